"""What the table of times to the first token in docs/pools.md shows; ``test_pages.py`` keeps the page current."""

from __future__ import annotations

import pytest

from llmd_gke.catalog import durations
from llmd_gke.repository import CLONE
from operations.timeline import example

PAGE = (CLONE / "docs" / "pools.md").read_text()


def seconds(cell: str) -> int:
    minutes, _, rest = cell.partition(":")
    return int(minutes) * 60 + int(rest)


@pytest.fixture(scope="module")
def table() -> dict[str, list[str]]:
    """The cells of each kind of capacity, without its name."""
    rows = PAGE.partition(f"| {' | '.join(example.COLUMNS)} |\n")[2].partition("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {kind: rest for kind, *rest in cells}


@pytest.mark.parametrize("kind", example.KINDS)
def test_with_early_hosts_the_first_token_comes_within_a_twentieth_of_the_longest_chain(
    table: dict[str, list[str]], kind: str
) -> None:
    plain, early, least = (seconds(cell) for cell in table[kind][:3])
    assert least <= early <= 1.05 * least < plain


def test_the_longest_chain_contains_the_copy_of_the_weights_where_it_outlasts_the_hosts_start(
    table: dict[str, list[str]],
) -> None:
    started, reserved = (seconds(table[kind][5]) for kind in ("on-demand", "reservation"))
    copy = 66 / durations.DOWNLOAD_GB_PER_SECOND
    assert started - reserved == pytest.approx(durations.HOST_FROM_ZERO.seconds - copy, abs=5)


def test_another_replica_reads_the_compile_cache(table: dict[str, list[str]]) -> None:
    weights, both = (seconds(cell) for cell in table["on-demand"][8:])
    assert weights - both == pytest.approx(durations.COMPILE_COLD.seconds - durations.COMPILE_CACHED.seconds, abs=1)
