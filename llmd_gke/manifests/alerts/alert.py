"""One alert."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

Severity = Literal["critical", "warning", "info"]
"""``critical``: requests fail now, act. ``warning``: they are slow, or will fail soon. ``info``: cost or capacity."""

Origin = Literal["scraped", "kube-state", "google"]
"""What collects the metric: our PodMonitorings, GKE's own collection of object states, or Google's services."""

GROUP = "llmd-gke"
PAGE = "docs/alerts.md"

_RANGE = re.compile(r"\[(\d+)([smhd])\]")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, kw_only=True)
class Alert:
    """A condition in PromQL that must hold for some time.

    ``seconds``: how long (0: at once). ``means`` and ``do`` are for the person on call; ``do`` is a list of steps.
    ``source`` is the upstream page that the condition or its numbers come from. ``model``: the model that the alert is
    about, for alerts that exist once for each model.
    """

    name: str
    expression: str
    seconds: int
    severity: Severity
    origin: Origin
    means: str
    do: tuple[str, ...]
    source: str
    model: str | None = None

    @property
    def key(self) -> str:
        """Unique in a stack, lower-case with hyphens: ``first-token-slow-qwen``."""
        hyphenated = re.sub(r"(?<!^)(?=[A-Z])", "-", self.name).lower()
        return hyphenated if self.model is None else f"{hyphenated}-{self.model}"

    @property
    def title(self) -> str:
        """The name that people read: ``FirstTokenSlow (qwen)``."""
        return self.name if self.model is None else f"{self.name} ({self.model})"

    @property
    def runbook(self) -> str:
        """The path of its section in the runbook, relative to the root of the repository."""
        return f"{PAGE}#{self.anchor}"

    @property
    def anchor(self) -> str:
        """The anchor of its heading in the runbook."""
        return self.name.lower()

    @property
    def labels(self) -> dict[str, str]:
        """Labels that the alert adds to its series."""
        return {"severity": self.severity} | ({} if self.model is None else {"model": self.model})

    def faster(self, factor: float, shortest: int = 15) -> Alert:
        """The alert with its wait and every range divided by ``factor``; no range gets below ``shortest`` seconds.

        For tests that cannot wait for hours. Thresholds are unchanged.
        """

        def divided(match: re.Match[str]) -> str:
            return f"[{max(shortest, round(int(match[1]) * _UNITS[match[2]] / factor))}s]"

        expression = _RANGE.sub(divided, self.expression)
        return replace(self, expression=expression, seconds=round(self.seconds / factor))
