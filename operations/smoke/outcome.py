"""The result of a check."""

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
    """A check did not pass; the message contains what was expected and what was received."""


class Skipped(Exception):
    """A check is not possible here; the message says why, and how to make it possible."""
