"""Models whose replicas follow their load: what a laptop cloud has to run for them, and when one has no server."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_common.problems import Stale
from llmd_gke.repository import CLONE
from llmd_gke.settings.validation import CLOUD_VARIABLE
from localcloud.cluster import autoscaling
from localcloud.common import cluster_status
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workdir:
    monkeypatch.setenv(CLOUD_VARIABLE, "laptop")
    return Workdir(tmp_path, tmp_path / "home", "laptop")


@pytest.mark.parametrize("running", [True, False])
def test_a_cluster_that_collects_nothing_is_refused_with_the_commands_that_start_another(
    workdir: Workdir, running: bool
) -> None:
    status = Layout(workdir.home).status
    status.parent.mkdir(parents=True)
    names = ["etcd", *([autoscaling.COLLECTORS] if running else [])]
    processes = [cluster_status.ProcessStatus(name) for name in names]
    cluster_status.write(status, cluster_status.Status("ready", "", processes))
    if running:
        autoscaling.check_collected(workdir, "scaled")
        return
    with pytest.raises(Stale) as refused:
        autoscaling.check_collected(workdir, "scaled")
    assert "llmd-gke:models of stack scaled: KEDA needs the load" in str(refused.value)
    assert f"Fix: `{workdir.make('down')}`, then `{workdir.make('up', 'scaled')}`" in str(refused.value)


WEDNESDAY = datetime(2026, 11, 25, 12, tzinfo=UTC)
HOURS = {"schedule": {"timeZone": "UTC", "hours": ["Mon-Fri 08:00-18:00"]}}
OUTSIDE = "has no server outside of its hours"


@pytest.mark.parametrize(
    ("change", "hour", "reason"),
    [
        (HOURS, 12, None),
        (HOURS, 20, OUTSIDE),
        (HOURS | {"stopped": True}, 20, None),
        ({"scaling": {"idleAfterSeconds": 3600}}, 12, "has no server while it is idle"),
    ],
)
def test_a_model_that_may_have_no_server_is_not_asked_after_an_update(
    workdir: Workdir, change: dict[str, Any], hour: int, reason: str | None
) -> None:
    content = yaml.safe_load((CLONE / "Pulumi.local.yaml").read_text())
    (model,) = content["config"]["llmd-gke:models"]
    del model["replicas"]
    model |= {"minReplicas": 1, "maxReplicas": 2, **change}
    (workdir.root / "Pulumi.local.yaml").write_text(yaml.safe_dump(content))
    reasons = autoscaling.without_servers(workdir, "local", WEDNESDAY.replace(hour=hour))
    assert reasons == ({"qwen": reason} if reason else {})
