"""Components that not every stack has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


def optional(given: Given | None, make: Callable[[Given], Made]) -> Made | None:
    """What ``make`` makes of the value; ``None`` without one, where the stack does not ask for it."""
    return None if given is None else make(given)


def present(*values: Given | None) -> list[Given]:
    """The values without those that are ``None``."""
    return [value for value in values if value is not None]
