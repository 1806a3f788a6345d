"""What a rule has to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One broken rule.

    ``rule`` is a stable kebab-case name, ``problem`` says what is wrong (with the reason or the upstream error),
    ``allowed`` what would be right, ``fix`` what to do. Neither ever holds a secret's value.
    """

    rule: str
    problem: str
    allowed: str = ""
    fix: str = ""
    severity: Severity = "error"
