"""A graph as Mermaid, which GitHub draws in pages and comments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from llmd_gke.graph.parts import Edge, Part, Parts

KINDS_SHOWN = 4

Mark = Literal["new", "gone", "changed", "critical"]

STYLES: Mapping[Mark, str] = {
    "critical": "stroke:#b35900,stroke-width:3px",
    "new": "stroke:#1a7f37,stroke-width:3px",
    "gone": "stroke:#cf222e,stroke-width:2px,stroke-dasharray:5 4",
    "changed": "stroke:#9a6700,stroke-width:3px",
}


@dataclass(frozen=True)
class Box:
    """A component as it is drawn: its name, its kind, and a summary of what it holds (empty if it holds nothing)."""

    name: str
    kind: str
    holds: str = ""


@dataclass(frozen=True)
class Picture:
    """A flowchart from left to right. ``marks`` colours boxes; edges in ``thick`` and ``dotted`` are drawn that way."""

    boxes: tuple[Box, ...]
    edges: frozenset[Edge]
    marks: Mapping[str, Mark] = field(default_factory=dict[str, Mark])
    thick: frozenset[Edge] = frozenset()
    dotted: frozenset[Edge] = frozenset()

    def text(self) -> str:
        """The flowchart in Mermaid's syntax. Names are escaped, so that they cannot be read as syntax."""
        lines = ["flowchart LR"]
        lines += [f'  {ident(box.name)}["{_label(box)}"]' for box in self.boxes]
        order = {box.name: index for index, box in enumerate(self.boxes)}
        for edge in sorted(self.edges, key=lambda edge: (order[edge[0]], order[edge[1]])):
            arrow = "==>" if edge in self.thick else "-.->" if edge in self.dotted else "-->"
            lines.append(f"  {ident(edge[0])} {arrow} {ident(edge[1])}")
        for mark, style in STYLES.items():
            names = [ident(box.name) for box in self.boxes if self.marks.get(box.name) == mark]
            if names:
                lines += [f"  classDef {mark} {style}", f"  class {','.join(names)} {mark}"]
        return "\n".join(lines)


def picture(parts: Parts) -> str:
    """A stack in Mermaid's syntax: boxes, arrows to what waits for them, and the critical chain in thick arrows."""
    return whole(parts).text()


def whole(parts: Parts) -> Picture:
    """The picture of a whole stack, to be drawn."""
    marks: dict[str, Mark] = dict.fromkeys(parts.chain_parts, "critical")
    boxes = tuple(box(part) for part in parts.by_name.values())
    return Picture(boxes, parts.edges | parts.chain_edges, marks, thick=parts.chain_edges)


def box(part: Part) -> Box:
    """A component as a box."""
    return Box(part.name, part.kind, summary(part) if part.resources else "")


def ident(name: str) -> str:
    """A name as a Mermaid identifier; the prefix keeps it apart from words such as ``end``."""
    return "c_" + re.sub(r"[^0-9A-Za-z]", lambda match: f"_{ord(match.group()):x}_", name)


def summary(part: Part) -> str:
    """What a component holds: the first kinds, each with its number of resources, and how many more there are."""
    shown = [kind if count == 1 else f"{count} {kind}" for kind, count in part.kinds[:KINDS_SHOWN]]
    more = sum(count for _, count in part.kinds[KINDS_SHOWN:])
    return ", ".join([*shown, f"{more} more"] if more else shown)


def _label(box: Box) -> str:
    lines = [
        f"<b>{_split_label(box.name)}</b>",
        _split_label(box.kind),
        *([_split_label(box.holds)] if box.holds else []),
    ]
    return "<br>".join(lines)


def _split_label(text: str) -> str:
    """Escapes a label for Mermaid: it contains no markup, no end of the label and no link."""
    return re.sub(r"[^0-9A-Za-z ,.()_-]", "'", text)
