"""Results of an acceptance run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from operations.smoke.outcome import Verdict

if TYPE_CHECKING:
    from llmd_gke.settings import StackSettings
    from operations.bench.result import BenchResult
    from operations.status.objects import Snapshot


@dataclass
class Step:
    """One step: its verdict, its duration in seconds, and details."""

    name: str
    verdict: Verdict
    text: str
    seconds: float = 0.0


@dataclass
class Evidence:
    """Results of all steps; empty for steps that did not run."""

    stack: str
    cloud: str
    settings: StackSettings
    steps: list[Step] = field(default_factory=list[Step])
    snapshot: Snapshot | None = None
    status: Mapping[str, object] = field(default_factory=dict[str, object])
    smoke: dict[str, str] = field(default_factory=dict[str, str])
    """Verdict by ``model: check``."""
    bench: BenchResult | None = None
    created: Mapping[str, int] = field(default_factory=dict[str, int])
    """Seconds that the creation of each resource took, by the resource's name."""
    unchanged: bool | None = None
    """Whether a preview or a second ``up`` found nothing to change; ``None`` if there was none."""
    left: str | None = None
    """Resources that remained after the destroy; empty for none, ``None`` if this was not checked."""

    def verdict(self, name: str) -> Verdict | None:
        """The verdict of a step; ``None`` if it did not run."""
        return next((step.verdict for step in self.steps if step.name == name), None)

    def smoked(self, check: str) -> str | None:
        """The worst verdict of a smoke check over all models; ``None`` if it did not run."""
        verdicts = [verdict for key, verdict in self.smoke.items() if key.endswith(f": {check}")]
        return next((verdict for verdict in ("failed", "skipped", "passed") if verdict in verdicts), None)
