"""The result of a check of ``doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckStatus(StrEnum):
    """``warning`` does not stop ``pulumi up``; ``skipped`` was not checked, for the reason in ``message``."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Result:
    """One line of the report: the check, its status, its message, and the command or page with the fix."""

    check: str
    status: CheckStatus
    message: str
    fix: str = ""


def ok(check: str, message: str) -> Result:
    """A check that passed."""
    return Result(check, CheckStatus.OK, message)


def warning(check: str, message: str, fix: str) -> Result:
    """A check whose result may cause problems, but does not stop ``pulumi up``."""
    return Result(check, CheckStatus.WARNING, message, fix)


def failed(check: str, message: str, fix: str) -> Result:
    """A check whose result would make ``pulumi up`` fail."""
    return Result(check, CheckStatus.FAILED, message, fix)


def skipped(check: str, why: str) -> Result:
    """A check that was not made, and why."""
    return Result(check, CheckStatus.SKIPPED, why)
