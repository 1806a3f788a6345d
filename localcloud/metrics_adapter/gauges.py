"""Values of gauges in Prometheus' text format, which the published client parses."""

from __future__ import annotations

import math

from prometheus_client.parser import text_string_to_metric_families

GAUGE = "gauge"


def value(text: str, name: str) -> float | None:
    """The sum of a gauge's series; ``None`` if there is no gauge of this name, or it has no finite value.

    Counters, histograms and metrics without a type have no value: the adapter supports gauges only. Neither has
    anything on a page that is not in the format.
    """
    try:
        values = [
            float(sample.value)
            for family in text_string_to_metric_families(text)
            if (family.name, family.type) == (name, GAUGE)
            for sample in family.samples
        ]
    except ValueError:
        return None
    total = sum(values)
    return total if values and math.isfinite(total) else None


def quantity(number: float) -> str:
    """A number as a Kubernetes quantity, to a thousandth."""
    thousandths = round(number * 1000)
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"
