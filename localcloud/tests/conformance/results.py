"""What a conformance suite printed, as a verdict for each of its tests."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["passes", "fails", "skipped"]

_LINE = re.compile(r"^    --- (PASS|FAIL|SKIP): TestConformance/([^/\s]+) \(", re.MULTILINE)
_VERDICTS: Mapping[str, Verdict] = {"PASS": "passes", "FAIL": "fails", "SKIP": "skipped"}


@dataclass(frozen=True)
class SuiteTest:
    """A test of a suite: its name, and the features it needs."""

    name: str
    features: frozenset[str]


def tests(output: str) -> list[SuiteTest]:
    """The tests that a suite's program names when it is asked for ``tests``, in alphabetical order."""
    entries = [json.loads(line) for line in output.splitlines()]
    return sorted(
        (SuiteTest(entry["name"], frozenset(entry["features"] or ())) for entry in entries),
        key=lambda one: one.name,
    )


def verdicts(output: str) -> dict[str, Verdict]:
    """The verdict on each test in what a suite printed with ``-test.v``. Raises ``ValueError`` where there is none.

    A suite that cannot set itself up ends before its first test.
    """
    by_name: dict[str, Verdict] = {match[2]: _VERDICTS[match[1]] for match in _LINE.finditer(output)}
    if not by_name:
        raise ValueError(f"the suite ran no test:\n{output[-3000:]}")
    return by_name
