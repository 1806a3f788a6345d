"""Asks single checks of ``doctor``."""

from __future__ import annotations

from operations.doctor import run
from operations.doctor.context import Context
from operations.doctor.result import Result


def only(results: list[Result], check: str) -> Result:
    (one,) = [result for result in results if result.check == check]
    return one


def ask(context: Context, name: str) -> list[Result]:
    return run.results(next(check for check in run.CHECKS if check.name == name), context)
