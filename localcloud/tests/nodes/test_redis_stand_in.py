"""What the laptop cloud's Redis is started with."""

from __future__ import annotations

from localcloud.nodes.entrypoints.redis import arguments


def test_clients_of_other_pods_are_served_as_by_the_official_image() -> None:
    given = ["--save", "", "--appendonly", "no"]
    assert arguments(given) == [*given, "--protected-mode", "no"]


def test_a_protected_mode_that_is_asked_for_stays() -> None:
    assert arguments(["--protected-mode", "yes"]) == ["--protected-mode", "yes"]
