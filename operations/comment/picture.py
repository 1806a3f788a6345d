"""The difference of two graphs as Mermaid: only the components that differ, and their neighbours."""

from __future__ import annotations

from llmd_gke.graph.mermaid import Mark, Picture, box
from llmd_gke.graph.parts import Parts


def difference(before: Parts, after: Parts) -> Picture | None:
    """New, removed and changed components with their neighbours; ``None`` if no component differs."""
    parts = {**before.by_name, **after.by_name}
    marks: dict[str, Mark] = {}
    for name in parts:
        old, new = before.by_name.get(name), after.by_name.get(name)
        if old is None:
            marks[name] = "new"
        elif new is None:
            marks[name] = "gone"
        elif _held(before, name) != _held(after, name):
            marks[name] = "changed"
    gone, fresh = before.edges - after.edges, after.edges - before.edges
    edges = {edge for edge in before.edges | after.edges if edge[0] in marks or edge[1] in marks} | gone | fresh
    if not marks and not gone and not fresh:
        return None
    shown = {name for edge in edges for name in edge} | set(marks)
    boxes = tuple(box(part) for name, part in parts.items() if name in shown)
    return Picture(boxes, frozenset(edges), marks, thick=fresh, dotted=gone - after.edges)


def _held(parts: Parts, name: str) -> dict[str, object]:
    return {
        node.urn: (node.inputs, node.protect, node.timeouts) for node in parts.by_name[name].resources
    }  # fmt: skip
