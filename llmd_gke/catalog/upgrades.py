"""What an upgrade of each component does (``upgrades.toml``), and upgrades that were walked (``walks.toml``)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FILE = Path(__file__).with_name("upgrades.toml")
WALKED = Path(__file__).with_name("walks.toml")


@dataclass(frozen=True, kw_only=True)
class Break:
    """What an upgrade from below ``at`` to it, or beyond, breaks."""

    at: str
    severity: Literal["error", "warning"]
    what: str
    source: str
    fix: str


@dataclass(frozen=True, kw_only=True)
class Component:
    """A component; the file says what its fields mean. ``one_minor``: the source of the rule that an upgrade goes over
    one minor version at most; empty if there is none.
    """

    key: str
    title: str
    restarts: str
    minutes: int
    charts: Sequence[str] = ()
    image: Sequence[str] = ()
    crds: str = "none"
    crd_step: str = ""
    one_minor: str = ""
    breaks: Sequence[Break] = ()


def _component(table: dict[str, Any]) -> Component:
    breaks = [Break(**one) for one in table.pop("breaks", [])]
    return Component(**table, breaks=breaks)


COMPONENTS = [_component(one) for one in tomllib.loads(FILE.read_text(encoding="utf-8"))["component"]]


@dataclass(frozen=True, kw_only=True)
class Walk:
    """An upgrade on the laptop cloud (``benchmarks/upgrades.py``). ``kept``: how many objects are as before; ``gone``,
    ``replaced``: which are not; ``behind``: CRDs that are not as the chart's folder ``crds/`` has them.

    ``streams``: how many ended meanwhile, 0 where nobody asked; ``lost``: those of them that were refused or cut off;
    ``silent``: the longest time without an answer, in seconds, to a client that asks five times a second.
    """

    component: str
    chart: str
    before: str
    after: str
    on: str
    update: str
    kept: int
    gone: Sequence[str]
    replaced: Sequence[str]
    behind: Sequence[str]
    streams: int = 0
    lost: int = 0
    silent: float = 0.0

    @property
    def clients(self) -> str:
        """What became of clients."""
        if not self.streams:
            return "nobody asked"
        return f"{self.lost} of {self.streams} streams lost, at most {self.silent} s without an answer"

    @property
    def objects(self) -> str:
        """What became of objects."""
        found = {"gone": self.gone, "replaced": self.replaced, "CRDs behind the chart": self.behind}
        others = "".join(f"; {what}: {', '.join(names)}" for what, names in found.items() if names)
        return f"{self.kept} objects kept{others}"

    @property
    def line(self) -> str:
        """The result in a line."""
        what = f"chart {self.chart}, {self.on}" if self.chart else self.on
        return f"{self.before} to {self.after} ({what}): {self.update}, {self.clients}, {self.objects}"


WALKS = [Walk(**one) for one in tomllib.loads(WALKED.read_text(encoding="utf-8")).get("walk", [])]


def walked(component: str, before: str, after: str) -> Walk | None:
    """The walk of that upgrade."""
    pair = (component, before.removeprefix("v"), after.removeprefix("v"))
    return next((one for one in WALKS if (one.component, one.before, one.after) == pair), None)
