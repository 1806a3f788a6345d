from __future__ import annotations

import pytest

from llmd_gke.rules.versions import is_older

FLOOR = "1.35.1-gke.1616000"


@pytest.mark.parametrize(
    "version", ["1.34", "1.34.9-gke.9999999", "1.35.0-gke.9999999", "1.35.1", "1.35.1-gke.1615999"]
)
def test_a_version_before_the_floor_is_older(version: str) -> None:
    assert is_older(version, FLOOR)


@pytest.mark.parametrize("version", ["1.35", "1.36", FLOOR, "1.35.1-gke.1616001", "1.35.2", "1.36.0-gke.1", "2.0"])
def test_a_minor_version_stands_for_its_newest_patch(version: str) -> None:
    assert not is_older(version, FLOOR)


def test_a_text_that_is_no_version_is_not_older() -> None:
    assert not is_older("latest", FLOOR)
