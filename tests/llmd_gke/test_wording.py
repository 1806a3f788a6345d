from __future__ import annotations

import pytest

from llmd_gke.settings import load_stack
from llmd_gke.wording import cents
from operations.cost.estimate import estimate
from operations.cost.tables import hourly
from tests.operations.support import ROOT


@pytest.mark.parametrize(("usd", "shown"), [(1.315, 1.32), (1.3149, 1.31), (0.1 + 1.215, 1.32), (35.74, 35.74)])
def test_half_a_cent_is_rounded_up(usd: float, shown: float) -> None:
    assert cents(usd) == shown


def test_the_output_of_a_stack_and_its_cost_table_show_one_price() -> None:
    for stack in ("dev", "eu4a", "prod"):
        settings = load_stack(ROOT, stack).settings
        assert hourly(estimate(stack, settings).totals["running"]) == f"{settings.totals.usd_per_hour:,.2f}"
