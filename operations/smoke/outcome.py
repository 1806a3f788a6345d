"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class Outcome:
    """``detail`` is one sentence; ``cause`` and ``fix`` (a command) belong to a failure."""

    name: str
    model: str
    verdict: Verdict
    detail: str
    seconds: float = 0.0
    cause: str = ""
    fix: str = ""


class CheckFailed(Exception):
    """A check that did not pass: what was expected and what came."""


class Skipped(Exception):
    """A check that could not show anything here, and how to make it show something."""
