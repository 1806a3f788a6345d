"""``llmd-gke graph``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    from llmd_gke.graph.parts import Parts


class Format(StrEnum):
    """How the picture is written."""

    MERMAID = "mermaid"
    SVG = "svg"
    CHAIN = "chain"


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    format_: Annotated[
        Format, typer.Option("--format", help="Mermaid for Markdown pages, an SVG file, or only the critical chain.")
    ] = Format.MERMAID,
) -> None:
    """Draw the graph of resources that a stack's program registers. The stack does not have to be up, and no engine is
    needed.

    Boxes are components; arrows point to components that wait for them. Thick arrows show the critical chain: the
    longest sequence of resources that wait for each other. `--output json` prints components, edges and chain as data.
    """
    with working(f"recording the graph of stack {stack}", quiet_seconds=0):
        from llmd_gke.graph import mermaid, svg
        from operations.record_graph import record

        parts = record(Target.choose(stack, cloud))
    if format_ is Format.SVG:
        picture = svg.picture(parts, f"Stack {stack}").rstrip("\n")
    else:
        picture = mermaid.picture(parts) if format_ is Format.MERMAID else _chain(parts)
    show(output, _data(stack, parts), picture)


def _chain(parts: Parts) -> str:
    from llmd_gke.graph.parts import kind_of

    width = len(str(len(parts.chain)))
    return "\n".join(f"{index:>{width}}. {node.name} ({kind_of(node)})" for index, node in enumerate(parts.chain, 1))


def _data(stack: str, parts: Parts) -> dict[str, object]:
    return {
        "stack": stack,
        "components": [
            {"name": part.name, "type": part.type, "resources": [node.name for node in part.resources]}
            for part in parts.by_name.values()
        ],
        "edges": sorted([earlier, later] for earlier, later in parts.edges),
        "criticalChain": [node.name for node in parts.chain],
    }
