from __future__ import annotations

from pathlib import Path

import pytest

from llmd_gke.settings import StackSettings
from llmd_gke.settings.sections.existing import ExistingClusterSettings
from operations.doctor.context import Context
from operations.doctor.existing import CHECK
from operations.doctor.result import CheckStatus
from tests.operations.adopt.support import kubectl
from tests.operations.doctor.asking import ask
from tests.operations.doctor.emulated import Google


def test_google_is_asked_about_the_cluster_before_its_own_api(
    google: Google, eu4a: StackSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = eu4a.cluster.model_copy(update={"existing": ExistingClusterSettings()})
    pools = tuple(pool.model_copy(update={"existing": True}) for pool in eu4a.pools)
    context = Context("eu4a", eu4a.model_copy(update={"cluster": place, "pools": pools}))
    (absent,) = ask(context, CHECK)
    assert (absent.status, "does not exist" in absent.message) == (CheckStatus.FAILED, True)
    google.make_cluster(eu4a)
    kubectl(tmp_path, monkeypatch)
    bad = {one.message for one in ask(context, CHECK) if one.status is CheckStatus.FAILED}
    for words in (
        "Workload Identity is off",
        "there is no node pool v6e4",
        "cert-manager/cert-manager, of Helm release",
    ):
        assert [message for message in bad if words in message], words
