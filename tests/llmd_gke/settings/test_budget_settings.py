from __future__ import annotations

import re
from typing import Any

import pytest

from llmd_gke.catalog import overhead
from llmd_gke.rules import budget as rules
from llmd_gke.settings.validation.budget import besides
from tests.llmd_gke.settings.conftest import Accept, Config, Refuse


def limited(config: Config, **budget: Any) -> Config:
    config["llmd-gke:budget"] = budget
    return config


def test_a_budget_above_the_maximum_is_accepted_and_becomes_a_label(config: Config, accepted: Accept) -> None:
    settings = accepted(limited(config, usdPerHour=50)).settings
    assert settings.budget_labels == {rules.LABEL: "5000"}
    assert "billingbudgets" not in settings.apis
    smaller = accepted(limited(config, usdPerHour=60, usdPerMonth=36500)).settings
    assert smaller.budget_labels == settings.budget_labels


def test_a_billing_account_needs_the_api_of_budgets(config: Config, accepted: Accept) -> None:
    settings = accepted(limited(config, usdPerHour=50, billingAccount="012345-6789AB-CDEF01")).settings
    assert "billingbudgets" in settings.apis
    assert settings.budget is not None
    assert settings.budget.amount_per_month == 36500


@pytest.mark.parametrize(
    ("value", "shown"), [(float("inf"), "Infinity"), (float("-inf"), "-Infinity"), (float("nan"), "NaN")]
)
def test_a_limit_that_is_no_finite_number_is_shown(config: Config, refused: Refuse, value: float, shown: str) -> None:
    assert f"llmd-gke:budget.usdPerHour = {shown}\n" in refused(limited(config, usdPerHour=value))


@pytest.mark.parametrize(
    ("key", "other", "value", "step"),
    [
        ("usdPerHour", "usdPerMonth", 1, 0.01),
        ("usdPerHour", "usdPerMonth", 40, 0.01),
        ("usdPerMonth", "usdPerHour", 100, 10),
        ("usdPerMonth", "usdPerHour", 30_000, 10),
    ],
)
def test_a_limit_that_is_too_low_names_the_least_amount_of_its_own_key_that_is_accepted(
    config: Config, refused: Refuse, accepted: Accept, key: str, other: str, *, value: int, step: float
) -> None:
    message = refused(limited(config, **{key: value}))
    assert f"budget.{key} = {value}" in message
    assert other not in message
    (amount,) = {float(one) for one in re.findall(rf"{key}: ([\d.]+)", message)}
    assert accepted(limited(config, **{key: amount}))
    assert "[budget]" in refused(limited(config, **{key: amount - step}))


def test_both_limits_that_are_too_low_are_named_at_once(config: Config, refused: Refuse) -> None:
    message = refused(limited(config, usdPerHour=40, usdPerMonth=100))
    assert "budget.usdPerHour = 40" in message
    assert "budget.usdPerMonth = 100" in message


@pytest.mark.parametrize("value", [0, -1, "fifty"])
def test_a_limit_that_cannot_be_read_is_one_problem(config: Config, refused: Refuse, value: object) -> None:
    message = refused(limited(config, usdPerHour=value))
    assert "has 1 problem:" in message
    assert "the budget has no limit" not in message


def test_the_price_besides_chips_has_every_part(config: Config, accepted: Accept) -> None:
    settings = accepted(config).settings
    most, least = besides(settings), besides(settings, idle=True)
    assert most.system_nodes == pytest.approx(4 * 0.59018 / 4, abs=1e-4)
    assert least.system_nodes == pytest.approx(0.59018 / 4, abs=1e-4)
    assert most.nat == pytest.approx(8 * overhead.NAT_USD_PER_VM_HOUR + overhead.NAT_ADDRESS_USD_PER_HOUR)
    assert most.load_balancer == 0.025
    assert 0 < least.disks < most.disks < 0.2
    assert most.usd_per_hour > least.usd_per_hour


def test_a_machine_without_a_price_has_none() -> None:
    assert overhead.machine("n2-standard-4", "us-central1") is None
    assert overhead.machine("e2-standard-4", "mars-north1") is None
    assert overhead.nat(40) == overhead.NAT_MOST_USD_PER_HOUR + overhead.NAT_ADDRESS_USD_PER_HOUR


def test_a_pool_without_a_public_price_is_a_warning() -> None:
    pool = rules.PricedPool(
        name="flex", machine_type="ct6e-standard-4t", chips=4, zone="us-east5-a", capacity="flex-start", nodes=4
    )
    (finding,) = rules.fits(1000, [pool], 0.5, None)
    assert (finding.severity, "flex has no public price" in finding.problem) == ("warning", True)
