"""The table of times to the first token in docs/pools.md."""

from __future__ import annotations

import pytest

from llmd_gke.catalog import durations
from llmd_gke.settings.validation import CLOUD_VARIABLE
from operations.timeline import example


@pytest.fixture(autouse=True)
def rehearsal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "rehearsal")


@pytest.mark.parametrize("kind", example.KINDS)
def test_with_early_hosts_the_first_token_comes_within_a_twentieth_of_the_longest_chain(kind: str) -> None:
    plain = example.times({**example.KINDS[kind], "earlyHosts": 0}, {})
    early = example.times({**example.KINDS[kind], "earlyHosts": 1}, {})
    assert early.least == plain.least
    assert early.least <= early.first <= 1.05 * early.least < plain.first


def test_the_longest_chain_contains_the_copy_of_the_weights_where_it_outlasts_the_hosts_start() -> None:
    reserved = example.times({**example.KINDS["reservation"], "earlyHosts": 1}, example.WEIGHTS)
    started = example.times({"earlyHosts": 1}, example.WEIGHTS)
    copy = 66 / durations.DOWNLOAD_GB_PER_SECOND
    assert started.least - reserved.least == pytest.approx(durations.HOST_FROM_ZERO.seconds - copy, abs=5)


def test_the_first_replica_fills_the_compile_cache_and_another_one_reads_it() -> None:
    plain, cached = example.times({}, example.WEIGHTS), example.times({}, example.CACHES)
    assert cached.first >= plain.first, "it is empty"
    assert plain.another - cached.another == pytest.approx(
        durations.COMPILE_COLD.seconds - durations.COMPILE_CACHED.seconds
    )
