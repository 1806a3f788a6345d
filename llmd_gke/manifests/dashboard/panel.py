"""The parts of a dashboard, independent of the tool that draws it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from llmd_gke.catalog import accelerators, metrics

Unit = Literal["count", "ratio", "percent", "seconds", "milliseconds", "per second", "USD"]
"""``ratio`` is 0 to 1, ``percent`` 0 to 100."""

Kind = Literal["line", "stacked"]

LABEL = re.compile(r"\{\{(\w+)\}\}")
"""A label in a legend, as Grafana writes it."""


@dataclass(frozen=True)
class Query:
    """A PromQL expression, and the legend of its series: ``{{model}}`` is replaced by the value of the label."""

    promql: str
    legend: str


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One chart. ``reading``: how to interpret it. ``source``: the page that describes the panel or its metrics."""

    key: str
    title: str
    unit: Unit
    queries: tuple[Query, ...]
    reading: str
    source: str
    kind: Kind = "line"

    @property
    def google_only(self) -> bool:
        """Whether its metrics exist on Google Cloud only, so that no other Prometheus can draw it."""
        chips = (kind.metrics for kind in accelerators.ACCELERATORS)
        names = {
            *metrics.Google,
            *(name for one in chips for name in (one.utilization, one.bandwidth, one.memory_used)),
        }
        return any(name in query.promql for query in self.queries for name in names)


@dataclass(frozen=True)
class DashboardSection:
    """Panels that belong together, and the question they answer."""

    title: str
    question: str
    panels: Sequence[Panel]
