from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from llmd_gke.rules import maintenance


def test_more_than_twenty_exclusions_are_refused() -> None:
    assert list(maintenance.exclusions([str(number) for number in range(20)])) == []
    (finding,) = maintenance.exclusions([str(number) for number in range(21)])
    assert finding.allowed == "at most 20"


@given(some.lists(some.sampled_from(["MO", "TU", "SA", "SU"]), min_size=1, max_size=4), some.integers(4, 24))
def test_a_window_is_accepted_exactly_if_gke_gets_its_48_hours(days: list[str], hours: int) -> None:
    assert (list(maintenance.window(days, hours)) == []) == (len(set(days)) * hours >= 12)
