"""The answers of a Prometheus to the panels' queries, live or from a file."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from llmd_gke.manifests.dashboard import panels
from llmd_gke.settings import StackSettings
from operations.dashboard.picture import Answers, Span
from operations.prometheus import access
from operations.prometheus.client import Prometheus, Series
from operations.target import Target

POINTS = 48


async def ask(prometheus: Prometheus, settings: StackSettings, span: Span) -> Answers:
    """Evaluates every panel's expressions over a time span. Raises ``NotAnswered``."""
    expressions = [query.promql for panel in panels(settings) for query in panel.queries]
    step = (span.end - span.start) / POINTS
    ranges = await asyncio.gather(*(prometheus.over(one, span.start, span.end, step) for one in expressions))
    return dict(zip(expressions, ranges, strict=True))


def of(target: Target, minutes: float) -> tuple[Answers, Span]:
    """The answers of the stack's cloud for the last ``minutes``. Raises ``Unreachable``."""
    now = time.time()
    span = Span(now - minutes * 60, now)
    return access.answer(target, lambda prometheus: ask(prometheus, target.settings, span)), span


def record(answers: Answers, span: Span, settings: StackSettings) -> str:
    """Answers as JSON, by panel, with times from the start and four digits."""
    recorded = [
        [[_recorded(one, span) for one in answers[query.promql]] for query in panel.queries]
        for panel in panels(settings)
    ]
    keys = [panel.key for panel in panels(settings)]
    rows = [f"  {json.dumps(key)}: {json.dumps(series)}" for key, series in zip(keys, recorded, strict=True)]
    body = ",\n".join([f'  "seconds": {span.end - span.start:g}', *rows])
    return "{\n" + body + "\n}\n"


def _recorded(series: Series, span: Span) -> dict[str, object]:
    kept = {key: value for key, value in series.labels.items() if key != "__name__"}
    points = [[round(when - span.start), float(f"{value:.4g}")] for when, value in series.points]
    return {"labels": kept, "points": [point for point in points if point[1] == point[1]]}


def read(file: Path, settings: StackSettings) -> tuple[Answers, Span]:
    """The answers that :func:`record` wrote, for those panels of the settings that are in the file."""
    content = cast("dict[str, Any]", json.loads(file.read_text(encoding="utf-8")))
    answers: dict[str, Sequence[Series]] = {}
    for panel in panels(settings):
        for query, rows in zip(panel.queries, content.get(panel.key, []), strict=False):
            answers[query.promql] = [Series(row["labels"], [tuple(point) for point in row["points"]]) for row in rows]
    return answers, Span(0, float(content["seconds"]))
