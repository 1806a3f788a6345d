"""The first token by priority while a model is busy, as measured on the laptop cloud: picture and table of the docs.

``python -m benchmarks.priorities`` prints the picture as SVG, ``python -m benchmarks.priorities table`` the table, both
of ``priorities.json``. ``.venv/bin/python -m pytest -n 0 --rewrite
localcloud/tests/real_kubernetes/test_front_door_priorities.py`` measures, and writes that file.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from xml.sax.saxutils import escape

FILE = Path(__file__).with_name("priorities.json")
ROWS = (
    ("idle", "priority 10, alone", "#57606a"),
    ("saturated", "priority 10, among the streams", "#0969da"),
    ("batch", "priority -10, the streams", "#b35900"),
)
"""Key of the figures, label and colour of each caller."""
MOST = 2
"""The median of priority 10 among the streams may be that many times the one alone."""

WIDTH, LEFT, RIGHT, TOP, ROW, BOTTOM = 800, 250, 30, 72, 52, 60
BAR, LONGER = 22, 10
"""Heights of the bar up to the median, and of the one up to 90 %, px."""


@dataclass(frozen=True)
class FirstTokens:
    """Requests of a caller, and seconds to their first token: the median, what 90 % stay within, and the most."""

    requests: int
    median: float
    ninety: float
    most: float


@dataclass(frozen=True)
class Priorities:
    """One measurement; ``callers`` by key of :data:`ROWS`.

    ``server_seconds``: what the server needs for a first token. ``at_once``, ``in_flight``: requests that a replica
    works on, and that the endpoint picker lets through. ``streams``: requests at once of priority -10.
    """

    date: str
    machine: str
    server_seconds: float
    at_once: int
    in_flight: int
    streams: int
    callers: Mapping[str, FirstTokens]


def summary(seconds: Sequence[float]) -> FirstTokens:
    """The figures of one caller's requests, of which there are at least two."""
    figures = (median(seconds), quantiles(seconds, n=10)[-1], max(seconds))
    return FirstTokens(len(seconds), *(round(one, 2) for one in figures))


def read(file: Path = FILE) -> Priorities:
    """The recorded measurement."""
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    callers = content.pop("callers")
    return Priorities(**content, callers={key: FirstTokens(**callers[key]) for key, _, _ in ROWS})


def write(measured: Priorities, file: Path = FILE) -> None:
    """Records a measurement."""
    file.write_text(json.dumps(asdict(measured), indent=2) + "\n", encoding="utf-8")


def table(measured: Priorities) -> str:
    """Markdown: seconds to the first token."""
    lines = ["| Caller | Requests | Median s | 90 % s | Most s |", "|---|--:|--:|--:|--:|"]
    for key, label, _ in ROWS:
        one = measured.callers[key]
        lines.append(f"| {label} | {one.requests} | {one.median:.2f} | {one.ninety:.2f} | {one.most:.2f} |")
    return "\n".join(lines) + "\n"


def picture(measured: Priorities) -> str:
    """A complete SVG document: a bar for each caller's median, a thinner one up to 90 %, and a line up to the most."""
    longest = math.ceil(max(one.most for one in measured.callers.values()))
    bottom = TOP + ROW * len(ROWS)
    height = bottom + BOTTOM

    def x(seconds: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * seconds / longest

    title = "Seconds to the first token while another caller's streams keep a model busy"
    setting = (
        f"{measured.streams} streams of priority -10, {measured.at_once} requests at once in the replica, "
        f"{measured.in_flight} in flight; the server needs {measured.server_seconds:g} s"
    )
    lines = [_text(16, 24, title, 14, weight="bold"), _text(16, 42, setting, 11, colour="#57606a")]
    for second in range(longest + 1):
        lines.append(f'<path d="M{x(second):.1f} {TOP}V{bottom}" stroke="#d0d7de"/>')
        lines.append(_text(x(second), bottom + 16, f"{second}", 11, anchor="middle", colour="#57606a"))
    for number, (key, label, colour) in enumerate(ROWS):
        one, middle = measured.callers[key], TOP + ROW * (number + 0.5)
        lines.append(f'<path d="M{LEFT} {middle:g}H{x(one.most):.1f}" stroke="{colour}" stroke-width="1.5"/>')
        for until, tall, opacity in ((one.ninety, LONGER, 0.45), (one.median, BAR, 1)):
            box = f'x="{LEFT}" y="{middle - tall / 2:g}" width="{x(until) - LEFT:.1f}" height="{tall}"'
            lines.append(f'<rect {box} fill="{colour}" fill-opacity="{opacity}"/>')
        lines.append(_text(LEFT - 10, middle - 3, label, 12, anchor="end"))
        lines.append(_text(LEFT - 10, middle + 13, f"{one.median:.2f} s", 12, anchor="end", weight="bold"))
    limit = x(MOST * measured.callers["idle"].median)
    lines.append(f'<path d="M{limit:.1f} {TOP - 10}V{bottom}" stroke="#cf222e" stroke-dasharray="5 3"/>')
    lines.append(_text(limit + 4, TOP - 4, "twice the time alone", 11, colour="#cf222e"))
    for line, text in enumerate(
        ("Bars: median, 90 %; line: most.", f"Measured {measured.date} on {measured.machine}.")
    ):
        lines.append(_text(16, bottom + 36 + 14 * line, text, 9, colour="#57606a"))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" font-family="DejaVu Sans, Arial, sans-serif" role="img">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
            *lines,
            "</svg>",
            "",
        ]
    )


def _text(
    x: float, y: float, text: str, size: int, *, anchor: str = "start", weight: str = "normal", colour: str = "#1f2328"
) -> str:
    look = f'font-size="{size}" font-weight="{weight}" fill="{colour}" text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:g}" {look}>{escape(text)}</text>'


def main(arguments: list[str]) -> None:
    """Prints the picture, or the table."""
    measured = read()
    print(table(measured) if arguments == ["table"] else picture(measured), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
