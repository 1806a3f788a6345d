"""Graphs as JSON: ``python -m llmd_gke.graph.stored STACK…`` records the program of the current folder.

Standard output is one JSON object: for each stack its ``nodes``, or the ``error`` that its recording ended with. This
way, the program of another revision can be recorded by a separate process, with that revision's library.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from llmd_gke.graph.resources import Graph, ResourceNode

Data = Mapping[str, object]


def to_data(graph: Graph) -> dict[str, object]:
    """A graph as JSON data. Outputs are left out."""
    return {"nodes": [{**vars(node), "depends_on": sorted(node.depends_on)} for node in graph.nodes.values()]}


def from_data(data: Data) -> Graph:
    """The graph that :func:`to_data` wrote. Raises ``KeyError`` or ``TypeError`` for anything else."""
    nodes = [
        ResourceNode(**{**one, "depends_on": frozenset(cast("Sequence[str]", one["depends_on"]))})  # pyright: ignore[reportArgumentType]
        for one in cast("Sequence[Data]", data["nodes"])
    ]
    return Graph({node.urn: node for node in nodes})


def main(stacks: list[str]) -> int:
    """Records ``stacks`` of the current folder. Returns 0 even if recordings fail: their errors are in the output."""
    from llmd_gke.graph.recording import load

    graphs: dict[str, object] = {}
    for stack in stacks:
        try:
            graphs[stack] = to_data(load(Path.cwd(), stack))
        except Exception as error:
            graphs[stack] = {"error": f"{type(error).__name__}: {error}"}
    json.dump(graphs, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
