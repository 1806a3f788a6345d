from __future__ import annotations

from datetime import date

import pytest

from llmd_gke.catalog import accelerators, zones
from llmd_gke.catalog.accelerators import FAMILIES
from llmd_gke.catalog.cost import Totals, pool_cost, total
from llmd_gke.catalog.zones import CLUSTER_FEE_USD_PER_HOUR, PRICES_AS_OF, Capacity, old_prices, stale


def test_ai_zones_are_told_by_their_last_part() -> None:
    assert {zone for zone in zones.known_zones() if zones.is_ai_zone(zone)} == {"us-south1-ai1b", "us-central1-ai1a"}


def test_spot_is_cheaper_than_on_demand() -> None:
    prices = [price for family in FAMILIES for price in family.prices.values()]
    assert prices
    assert all(price.spot is None or price.spot < price.on_demand for price in prices)


@pytest.mark.parametrize(
    ("family", "zone", "capacity", "price"),
    [
        ("v6e", "europe-west4-a", "on-demand", 2.97),
        ("v6e", "europe-west4-a", "reservation", 2.97),
        ("v6e", "europe-west4-a", "spot", 1.037),
        ("v6e", "europe-west4-a", "flex-start", None),
        ("v6e", "southamerica-west1-a", "spot", None),
        ("v6e", "mars-north1-a", "on-demand", None),
        ("v5e", "us-west4-a", "on-demand", None),
    ],
)
def test_prices_are_public_ones_or_unknown(family: str, zone: str, capacity: Capacity, price: float | None) -> None:
    assert zones.chip_price(family, zone, capacity) == price


def test_a_pool_costs_its_chips() -> None:
    family, shape = accelerators.family_of("ct6e-standard-4t"), accelerators.find_slice("ct6e-standard-4t", "2x2")
    assert family is not None
    assert shape is not None
    assert pool_cost(family, shape, "europe-west4-a", "on-demand", 3) == Totals(12, 35.64)
    assert pool_cost(family, shape, "europe-west4-a", "on-demand", 0) == Totals(0, 0.0)
    assert pool_cost(family, shape, "europe-west4-a", "flex-start", 3) == Totals(12, None)


def test_a_cluster_costs_its_pools_and_the_fee() -> None:
    assert total([Totals(12, 35.64), Totals(1, 2.97)]) == Totals(13, round(38.61 + CLUSTER_FEE_USD_PER_HOUR, 2))
    assert total([]) == Totals(0, CLUSTER_FEE_USD_PER_HOUR)


def test_one_unknown_price_makes_the_sum_unknown_but_not_the_chips() -> None:
    assert total([Totals(12, 35.64), Totals(4, None)]) == Totals(16, None)


@pytest.mark.parametrize(
    ("as_of", "today", "message"),
    [
        ("2026-08", date(2026, 9, 20), None),
        ("2026-08", date(2026, 10, 30), None),
        ("2026-08", date(2026, 11, 22), "of 2026-08, 83 days old"),
        ("2026-08-22", date(2026, 10, 21), None),
        ("2026-08-22", date(2026, 10, 22), "of 2026-08-22, 61 days old"),
    ],
)
def test_a_table_older_than_two_months_says_so(as_of: str, today: date, message: str | None) -> None:
    assert stale(as_of, today) == message


def test_old_prices_name_the_page_that_has_new_ones() -> None:
    assert old_prices(date.fromisoformat(f"{PRICES_AS_OF}-28")) is None
    message = old_prices(date(2030, 1, 1))
    assert message is not None
    assert f"of {PRICES_AS_OF}" in message
    assert message.endswith("see https://cloud.google.com/tpu/pricing for current prices")
