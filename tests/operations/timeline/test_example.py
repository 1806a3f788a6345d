"""The table of times to the first token in docs/pools.md."""

from __future__ import annotations

import pytest

from llmd_gke.catalog import durations
from llmd_gke.settings.validation import CLOUD_VARIABLE
from operations.timeline import example


@pytest.fixture(autouse=True)
def rehearsal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "rehearsal")


@pytest.mark.parametrize("kind", ["on-demand", "spot", "reservation"])
def test_with_early_hosts_the_first_token_comes_within_a_twentieth_of_the_longest_chain(kind: str) -> None:
    plain = example.times({**example.KINDS[kind], "earlyHosts": 0}, {})
    early = example.times({**example.KINDS[kind], "earlyHosts": 1}, {})
    assert early.least == plain.least
    assert early.least <= early.first <= 1.05 * early.least < plain.first


def test_a_host_that_cannot_start_early_waits_for_kserve_and_for_nothing_else() -> None:
    """GKE starts a flex-start host for a pending pod, and KServe creates the pod."""
    times = example.times({**example.KINDS[example.QUEUED], "earlyHosts": 0}, {})
    releases = durations.BY_TYPE["kubernetes:helm.sh/v3:Release"].seconds * 2
    assert times.least + releases < times.first < times.least + releases + 30


def test_the_first_replica_fills_the_compile_cache_and_another_one_reads_it() -> None:
    plain, cached = example.times({}, {}), example.times({}, {"compileCache": example.CACHE})
    assert cached.first >= plain.first, "it is empty"
    assert plain.another - cached.another == pytest.approx(
        durations.COMPILE_COLD.seconds - durations.COMPILE_CACHED.seconds
    )
