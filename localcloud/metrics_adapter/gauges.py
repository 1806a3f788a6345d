"""Values of gauges in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/)."""

from __future__ import annotations

import math
import re

GAUGE = "gauge"
_SAMPLE = re.compile(r"([A-Za-z_:][A-Za-z0-9_:]*)(?:\{.*\})?\s+(\S+)(?:\s+-?\d+)?\s*")


def value(text: str, name: str) -> float | None:
    """The sum of a gauge's series; ``None`` if there is no gauge of this name, or it has no finite value.

    Counters, histograms and metrics without a type have no value: the adapter supports gauges only.
    """
    if _type(text, name) != GAUGE:
        return None
    values = [
        _number(match[2]) for line in text.splitlines() if (match := _SAMPLE.fullmatch(line)) and match[1] == name
    ]
    total = sum(values)
    return total if values and math.isfinite(total) else None


def _type(text: str, name: str) -> str:
    prefix = f"# TYPE {name} "
    return next((line.removeprefix(prefix).strip() for line in text.splitlines() if line.startswith(prefix)), "")


def _number(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        return math.nan


def quantity(number: float) -> str:
    """A number as a Kubernetes quantity, to a thousandth."""
    thousandths = round(number * 1000)
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"
