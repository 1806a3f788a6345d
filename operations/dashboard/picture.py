"""The panels with the answers of a Prometheus, drawn as SVG without another program or a browser."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.sax.saxutils import escape

from llmd_gke.manifests.dashboard.panel import LABEL, DashboardSection, Panel, Query, Unit
from operations.prometheus.client import Series

Answers = Mapping[str, Sequence[Series]]

WIDTH, HEIGHT, GAP, IN_ROW = 380, 232, 14, 3
LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 52, 30, 314, 118
HEADER = 40
LEGENDS = 4
LETTERS = 52
COLOURS = ("#0969da", "#bf3989", "#1a7f37", "#b35900", "#8250df", "#57606a", "#cf222e", "#0a7ea4")
UNITS: Mapping[Unit, tuple[float, str]] = {
    "count": (1, ""),
    "ratio": (100, " %"),
    "percent": (1, " %"),
    "seconds": (1, " s"),
    "milliseconds": (1, " ms"),
    "per second": (1, "/s"),
    "USD": (1, " USD"),
}
"""For each unit a factor, and the text after a number."""

Line = tuple[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class Span:
    """The time span that is drawn, in seconds since 1970."""

    start: float
    end: float


def picture(sections: Sequence[DashboardSection], answers: Answers, span: Span, title: str) -> str:
    """A complete SVG document."""
    width = IN_ROW * (WIDTH + GAP) + GAP
    lines: list[str] = []
    top = float(GAP)
    for section in sections:
        lines.append(_text(GAP, top + 24, f"{section.title}: {section.question}", 15, weight="bold"))
        top += HEADER
        for index, panel in enumerate(section.panels):
            left = GAP + index % IN_ROW * (WIDTH + GAP)
            lines += _chart(panel, answers, span, left, top + index // IN_ROW * (HEIGHT + GAP))
        top += -(-len(section.panels) // IN_ROW) * (HEIGHT + GAP)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top:g}" width="{width}" height="{top:g}" '
            'font-family="DejaVu Sans, Arial, sans-serif" role="img">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{top:g}" fill="#fff"/>',
            *lines,
            "</svg>",
            "",
        ]
    )


def _chart(panel: Panel, answers: Answers, span: Span, left: float, top: float) -> list[str]:
    drawn = [line for query in panel.queries for line in _lines(query, answers.get(query.promql, ()))]
    lines = [
        f'<rect x="{left:g}" y="{top:g}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#f6f8fa" stroke="#d0d7de"/>',
        _text(left + 10, top + 20, panel.title, 12, weight="bold"),
    ]
    if not drawn:
        note = "only on Google Cloud" if panel.google_only else "no series"
        return [*lines, _text(left + WIDTH / 2, top + HEIGHT / 2, note, 11, anchor="middle", colour="#8c959f")]
    stacked = panel.kind == "stacked"
    if stacked:
        drawn = _stacked(drawn)
    highest = nice(max(value for _, points in drawn for _, value in points))
    lines += _axes(panel.unit, highest, span, left, top)
    for index, (_, points) in reversed(list(enumerate(drawn))):
        lines.append(
            _path(points, highest, span, left=left, top=top, colour=COLOURS[index % len(COLOURS)], filled=stacked)
        )
    return [*lines, *_legend([name for name, _ in drawn], left, top)]


def _lines(query: Query, series: Iterable[Series]) -> list[Line]:
    """A line for each series that has a number; a quantile without samples has none."""
    named = [(_name(query, one), [point for point in one.points if math.isfinite(point[1])]) for one in series]
    return sorted((name, points) for name, points in named if points)


def _name(query: Query, series: Series) -> str:
    return LABEL.sub(lambda label: series.labels.get(label[1], "?"), query.legend)


def _stacked(lines: Sequence[Line]) -> list[Line]:
    below: dict[float, float] = {}
    stacked: list[Line] = []
    for name, points in lines:
        raised = [(when, value + below.get(when, 0.0)) for when, value in points]
        below.update(raised)
        stacked.append((name, raised))
    return stacked


def nice(highest: float) -> float:
    """The end of an axis: 1, 2 or 5 times a power of ten, at least ``highest``."""
    if highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= highest * 0.9999)


def _axes(unit: Unit, highest: float, span: Span, left: float, top: float) -> list[str]:
    factor, behind = UNITS[unit]
    lines: list[str] = []
    for share in (0, 0.5, 1):
        y = top + TOP + PLOT_HEIGHT * (1 - share)
        lines.append(f'<path d="M{left + LEFT:g} {y:g}h{PLOT_WIDTH}" stroke="#d0d7de"/>')
        label = f"{highest * share * factor:.4g}{behind}"
        lines.append(_text(left + LEFT - 4, y + 3, label, 9, anchor="end", colour="#57606a"))
    y = top + TOP + PLOT_HEIGHT + 12
    minutes = (span.end - span.start) / 60
    lines.append(_text(left + LEFT, y, f"{minutes:.3g} min ago", 9, colour="#57606a"))
    lines.append(_text(left + LEFT + PLOT_WIDTH, y, "now", 9, anchor="end", colour="#57606a"))
    return lines


def _path(
    points: Sequence[tuple[float, float]],
    highest: float,
    span: Span,
    *,
    left: float,
    top: float,
    colour: str,
    filled: bool,
) -> str:
    bottom = top + TOP + PLOT_HEIGHT
    drawn = ""
    for run in runs(points):
        corners = [
            (
                left + LEFT + PLOT_WIDTH * (when - span.start) / (span.end - span.start),
                bottom - PLOT_HEIGHT * max(0.0, min(1.0, value / highest)),
            )
            for when, value in run
        ]
        drawn += "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
        if filled:
            drawn += f"L{corners[-1][0]:.1f} {bottom:g}L{corners[0][0]:.1f} {bottom:g}Z"
    fill = f'fill="{colour}" fill-opacity="0.35"' if filled else 'fill="none"'
    return f'<path d="{drawn}" {fill} stroke="{colour}" stroke-width="1.4" stroke-linecap="round"/>'


def runs(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """The points in runs without gaps: a new run begins if more than one point is missing."""
    step = min((second[0] - first[0] for first, second in pairwise(points)), default=0.0)
    parts = [[points[0]]]
    for first, second in pairwise(points):
        if second[0] - first[0] > 1.5 * step:
            parts.append([])
        parts[-1].append(second)
    return parts


def _legend(names: Sequence[str], left: float, top: float) -> list[str]:
    lines: list[str] = []
    y = top + TOP + PLOT_HEIGHT + 28
    shown = names if len(names) <= LEGENDS else names[: LEGENDS - 1]
    for index, name in enumerate(shown):
        lines.append(
            f'<rect x="{left + 12:g}" y="{y - 7:g}" width="10" height="3" fill="{COLOURS[index % len(COLOURS)]}"/>'
        )
        lines.append(_text(left + 28, y - 2, name[:LETTERS], 9))
        y += 12
    if len(shown) < len(names):
        lines.append(_text(left + 28, y - 2, f"and {len(names) - len(shown)} more", 9, colour="#57606a"))
    return lines


def _text(
    x: float,
    y: float,
    text: str,
    size: int,
    *,
    anchor: str = "start",
    weight: str = "normal",
    colour: str = "#1f2328",
) -> str:
    look = f'font-size="{size}" font-weight="{weight}" fill="{colour}" text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}" {look}>{escape(text)}</text>'
