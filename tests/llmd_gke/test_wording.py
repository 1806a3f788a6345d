"""Numbers and money in messages."""

from __future__ import annotations

import pytest

from llmd_gke.settings import load_stack
from llmd_gke.wording import cents, counted
from operations.cost.estimate import estimate
from operations.cost.tables import hourly
from tests.operations.support import ROOT


@pytest.mark.parametrize(("number", "text"), [(0, "0 chips"), (1, "1 chip"), (2, "2 chips"), (1200, "1,200 chips")])
def test_one_is_singular_and_everything_else_is_plural(number: int, text: str) -> None:
    assert counted(number, "chip") == text
    assert counted(number, "chip", "pieces").endswith("chip" if number == 1 else "pieces")


@pytest.mark.parametrize(("usd", "shown"), [(1.315, 1.32), (1.3149, 1.31), (0.1 + 1.215, 1.32), (35.74, 35.74)])
def test_half_a_cent_is_rounded_up(usd: float, shown: float) -> None:
    assert cents(usd) == shown


def test_the_output_of_a_stack_and_its_cost_table_show_one_price() -> None:
    for stack in ("dev", "eu4a", "prod"):
        settings = load_stack(ROOT, stack).settings
        assert hourly(estimate(stack, settings).totals["running"]) == f"{settings.totals.usd_per_hour:,.2f}"
