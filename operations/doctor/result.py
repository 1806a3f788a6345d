"""What a check of ``doctor`` found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckStatus(StrEnum):
    """``warning`` does not stop ``pulumi up``; ``skipped`` was not looked at, and ``message`` tells why."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Result:
    """One line of the report: what was looked at, what was seen, and the command or page that fixes it."""

    check: str
    status: CheckStatus
    message: str
    fix: str = ""


def ok(check: str, message: str) -> Result:
    """As it should be."""
    return Result(check, CheckStatus.OK, message)


def warning(check: str, message: str, fix: str) -> Result:
    """May go wrong."""
    return Result(check, CheckStatus.WARNING, message, fix)


def failed(check: str, message: str, fix: str) -> Result:
    """Would stop ``pulumi up``."""
    return Result(check, CheckStatus.FAILED, message, fix)


def skipped(check: str, why: str) -> Result:
    """Not looked at."""
    return Result(check, CheckStatus.SKIPPED, why)
