"""A graph as Mermaid, which GitHub draws in pages and comments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from llmd_gke.graph.parts import Edge, Part, Parts

KINDS_SHOWN = 4

Mark = str
"""``new``, ``gone``, ``changed`` or ``critical``."""

STYLES: Mapping[Mark, str] = {
    "critical": "stroke:#b35900,stroke-width:3px",
    "new": "stroke:#1a7f37,stroke-width:3px",
    "gone": "stroke:#cf222e,stroke-width:2px,stroke-dasharray:5 4",
    "changed": "stroke:#9a6700,stroke-width:3px",
}


def picture(parts: Parts) -> str:
    """A stack: components as boxes, arrows to what waits for them, thick ones along the critical chain."""
    marks = dict.fromkeys(parts.chain_parts, "critical")
    return drawing(parts.by_name.values(), parts.edges | parts.chain_edges, marks, thick=parts.chain_edges)


def drawing(
    boxes: Iterable[Part],
    edges: Collection[Edge],
    marks: Mapping[str, Mark],
    *,
    thick: Collection[Edge] = (),
    dotted: Collection[Edge] = (),
) -> str:
    """A flowchart from left to right. ``marks`` colours boxes, ``thick`` and ``dotted`` say how edges look."""
    boxes = list(boxes)
    lines = ["flowchart LR"]
    lines += [f'  {ident(box.name)}["{_label(box)}"]' for box in boxes]
    order = {box.name: place for place, box in enumerate(boxes)}
    for earlier, later in sorted(edges, key=lambda edge: (order[edge[0]], order[edge[1]])):
        arrow = "==>" if (earlier, later) in thick else "-.->" if (earlier, later) in dotted else "-->"
        lines.append(f"  {ident(earlier)} {arrow} {ident(later)}")
    for mark, style in STYLES.items():
        names = [ident(box.name) for box in boxes if marks.get(box.name) == mark]
        if names:
            lines += [f"  classDef {mark} {style}", f"  class {','.join(names)} {mark}"]
    return "\n".join(lines)


def ident(name: str) -> str:
    """A name as a Mermaid identifier; the prefix keeps it apart from words such as ``end``."""
    return "c_" + re.sub(r"[^0-9A-Za-z]", lambda found: f"_{ord(found.group()):x}_", name)


def summary(box: Part) -> str:
    """What a component holds: the kinds that appear first, with their number, and how many resources follow."""
    shown = [kind if count == 1 else f"{count} {kind}" for kind, count in box.kinds[:KINDS_SHOWN]]
    more = sum(count for _, count in box.kinds[KINDS_SHOWN:])
    return ", ".join([*shown, f"{more} more"] if more else shown)


def _label(box: Part) -> str:
    lines = [f"<b>{box.name}</b>", box.kind, *([summary(box)] if box.resources else [])]
    return "<br>".join(line.replace('"', "'") for line in lines)
