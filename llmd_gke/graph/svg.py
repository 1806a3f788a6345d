"""A graph as SVG, for pages and slides that cannot draw Mermaid: one column for each step. Needs no other program."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from itertools import pairwise
from statistics import mean
from xml.sax.saxutils import escape

from llmd_gke.graph.mermaid import summary
from llmd_gke.graph.parts import Edge, Part, Parts

WIDTH, LINE, PADDING = 176, 16, 10
GAP_ACROSS, GAP_DOWN, MARGIN = 56, 22, 16
LETTERS = 28
"""Characters of 11 px that fit into a box."""

Rectangle = tuple[float, float, float]
"""Left, top and height of a box."""


def picture(parts: Parts, title: str) -> str:
    """A complete SVG document, with ``title`` for screen readers."""
    edges = sorted(parts.edges | parts.chain_edges)
    columns, routes = _columns(parts.by_name, edges)
    rectangles = _rectangles(parts.by_name, columns)
    width = max(left + WIDTH for left, _, _ in rectangles.values()) + MARGIN
    height = max(top + tall for _, top, tall in rectangles.values()) + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="DejaVu Sans, Arial, sans-serif" role="img">',
        f"<title>{escape(title)}</title>",
        '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#57606a"/></marker></defs>',
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
    ]
    lines += [_edge([rectangles[stop] for stop in routes[edge]], edge in parts.chain_edges) for edge in edges]
    for name, part in parts.by_name.items():
        lines += _box(part, rectangles[name], name in parts.chain_parts)
    return "\n".join([*lines, "</svg>", ""])


def _columns(parts: Mapping[str, Part], edges: list[Edge]) -> tuple[list[list[str]], dict[Edge, list[str]]]:
    """Columns of components, and the waypoints of each edge.

    Each component is one column after the last of those that it waits for. An edge that crosses several columns has a
    waypoint in each of them, so that it runs between the boxes.
    """
    depth: dict[str, int] = {}

    def deep(name: str) -> int:
        if name not in depth:
            depth[name] = 1 + max((deep(earlier) for earlier, later in edges if later == name), default=-1)
        return depth[name]

    columns: list[list[str]] = [[] for _ in range(1 + max(map(deep, parts), default=0))]
    for name in parts:
        columns[depth[name]].append(name)
    routes: dict[Edge, list[str]] = {}
    before: dict[str, list[str]] = {}
    for earlier, later in edges:
        between = {f"{earlier}\0{later}\0{column}": column for column in range(depth[earlier] + 1, depth[later])}
        for stop, column in between.items():
            columns[column].append(stop)
        routes[earlier, later] = stops = [earlier, *between, later]
        for first, second in pairwise(stops):
            before.setdefault(second, []).append(first)
    row: dict[str, float] = {}
    for column in columns:
        column.sort(key=lambda stop: mean([row[one] for one in before[stop]]) if stop in before else 0.0)
        row.update({stop: index - (len(column) - 1) / 2 for index, stop in enumerate(column)})
    return columns, routes


def _rectangles(parts: Mapping[str, Part], columns: list[list[str]]) -> dict[str, Rectangle]:
    heights = [[_height(parts[stop]) if stop in parts else 0.0 for stop in column] for column in columns]
    tallest = max(sum(column) + GAP_DOWN * (len(column) - 1) for column in heights)
    rectangles: dict[str, Rectangle] = {}
    for number, (column, tall) in enumerate(zip(columns, heights, strict=True)):
        top = MARGIN + (tallest - sum(tall) - GAP_DOWN * (len(tall) - 1)) / 2
        for stop, one in zip(column, tall, strict=True):
            rectangles[stop] = (MARGIN + number * (WIDTH + GAP_ACROSS), top, one)
            top += one + GAP_DOWN
    return rectangles


def _texts(part: Part) -> list[str]:
    return textwrap.wrap(summary(part), LETTERS)


def _height(part: Part) -> float:
    return 2 * PADDING + LINE * (2 + len(_texts(part)))


def _box(part: Part, rectangle: Rectangle, critical: bool) -> list[str]:
    left, top, tall = rectangle
    stroke = 'stroke="#b35900" stroke-width="3"' if critical else 'stroke="#57606a" stroke-width="1.2"'
    lines = [f'<rect x="{left:g}" y="{top:g}" width="{WIDTH}" height="{tall:g}" rx="6" fill="#f6f8fa" {stroke}/>']
    styles = ['font-size="13" font-weight="bold"', 'font-size="11" fill="#57606a"']
    texts = [part.name, part.kind, *_texts(part)]
    for number, text in enumerate(texts):
        style = styles[number] if number < len(styles) else 'font-size="11"'
        y = top + PADDING + LINE * (number + 0.75)
        lines.append(f'<text x="{left + PADDING:g}" y="{y:g}" {style}>{escape(text)}</text>')
    return lines


def _edge(stops: list[Rectangle], critical: bool) -> str:
    look = 'stroke="#b35900" stroke-width="3"' if critical else 'stroke="#8c959f" stroke-width="1.3"'
    curve, bend = "", GAP_ACROSS * 0.7
    for (left, top, tall), (left2, top2, tall2) in pairwise(stops):
        x, y, x2, y2 = left + WIDTH, top + tall / 2, left2, top2 + tall2 / 2
        curve += f"{'L' if curve else 'M'}{x:g} {y:g}C{x + bend:g} {y:g} {x2 - bend:g} {y2:g} {x2:g} {y2:g}"
    return f'<path d="{curve}" fill="none" {look} marker-end="url(#end)"/>'
