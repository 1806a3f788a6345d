"""What a check of ``doctor`` found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckVerdict(StrEnum):
    """``warning`` does not stop ``pulumi up``; ``skipped`` was not looked at, and ``said`` tells why."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Result:
    """One line of the report: what was looked at, what was seen, and the command or page that fixes it."""

    check: str
    verdict: CheckVerdict
    said: str
    fix: str = ""


def ok(check: str, said: str) -> Result:
    """As it should be."""
    return Result(check, CheckVerdict.OK, said)


def warning(check: str, said: str, fix: str) -> Result:
    """May go wrong."""
    return Result(check, CheckVerdict.WARNING, said, fix)


def failed(check: str, said: str, fix: str) -> Result:
    """Would stop ``pulumi up``."""
    return Result(check, CheckVerdict.FAILED, said, fix)


def skipped(check: str, why: str) -> Result:
    """Not looked at."""
    return Result(check, CheckVerdict.SKIPPED, why)
