"""The result of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One broken rule.

    ``rule`` is a stable kebab-case name, ``problem`` describes what is wrong (with the reason or the upstream error),
    ``allowed`` what is allowed, ``fix`` what to do. None of them ever contains a secret's value.
    """

    rule: str
    problem: str
    allowed: str = ""
    fix: str = ""
    severity: Severity = "error"
