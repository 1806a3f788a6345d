"""What an upgrade of each component does, read from ``upgrades.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FILE = Path(__file__).with_name("upgrades.toml")


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
"""Every component, in the order of upgrades."""
