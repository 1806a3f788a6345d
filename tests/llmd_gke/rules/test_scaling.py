from __future__ import annotations

import pytest

from llmd_gke.catalog import scaling as catalogue
from llmd_gke.catalog import versions
from llmd_gke.rules import scaling

FLOOR = versions.gke_autoscaling_metric()


def test_a_refused_threshold_names_the_highest_that_is_accepted_and_one_that_is() -> None:
    for sequences in range(2, 300):
        (finding,) = scaling.running(sequences, sequences)
        most = int(finding.allowed.removeprefix("at most "))
        assert list(scaling.running(most, sequences)) == []
        assert list(scaling.running(most + 1, sequences)) != []
        advised = int(finding.fix.removeprefix("runningPerReplica: ").removesuffix(", or remove it"))
        assert list(scaling.running(advised, sequences)) == []
        assert catalogue.running_threshold(sequences) == advised


def test_a_server_of_one_request_at_once_has_no_threshold_of_running_requests() -> None:
    (finding,) = scaling.running(1, 1)
    assert (finding.allowed.startswith("no number"), finding.fix) == (True, "remove it")


@pytest.mark.parametrize(
    ("version", "has"),
    [(FLOOR, True), ("1.37", True), ("1.38", True), ("1.37.0-gke.3099999", False), ("1.36", False), ("1.35", False)],
)
def test_the_managed_adapter_is_used_from_its_version_on(version: str, has: bool) -> None:
    assert scaling.has_managed_adapter(version) is has
    assert scaling.effective_source(None, version) == ("gke" if has else "keda")
    assert scaling.effective_source("keda", version) == "keda"
