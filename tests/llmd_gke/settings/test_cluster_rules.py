"""The cluster's options. Each rule with its whole message."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as some

from llmd_gke.rules import maintenance
from llmd_gke.settings import Checked
from tests.llmd_gke.settings.conftest import Config

Accept = Callable[..., Checked]


def exclusion(**over: object) -> dict[str, object]:
    return {"maintenance": {"exclusions": [{"name": "holidays", "start": "2026-12-18", **over}]}}


def test_a_long_time_without_upgrades_is_a_warning(config: Config, accepted: Accept) -> None:
    config["llmd-gke:cluster"].update(exclusion(end="2027-01-18", scope="NO_UPGRADES"))
    (warning,) = (warned for warned in accepted(config).warnings if warned.finding.rule == "maintenance-exclusion")
    assert warning.finding.problem == "NO_UPGRADES for 31 days: GKE requires 48 hours of maintenance in 32 days"


def test_more_than_twenty_exclusions_are_refused() -> None:
    assert list(maintenance.exclusions([str(number) for number in range(20)])) == []
    (finding,) = maintenance.exclusions([str(number) for number in range(21)])
    assert finding.allowed == "at most 20"


@given(some.lists(some.sampled_from(["MO", "TU", "SA", "SU"]), min_size=1, max_size=4), some.integers(4, 24))
def test_a_window_is_accepted_exactly_if_gke_gets_its_48_hours(days: list[str], hours: int) -> None:
    assert (list(maintenance.window(days, hours)) == []) == (len(set(days)) * hours >= 12)
