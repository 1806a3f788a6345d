"""Small graphs made by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from llmd_gke.graph.resources import Graph, ResourceNode

ROOT_URN = "urn:pulumi:one::llmd-gke::pulumi:pulumi:Stack::llmd-gke-one"


def urn(name: str) -> str:
    return f"urn:pulumi:one::llmd-gke::x::{name}"


def node(
    name: str,
    after: Iterable[str] = (),
    inside: str = "",
    *,
    type_: str = "",
    inputs: Mapping[str, object] | None = None,
    protect: bool = False,
) -> ResourceNode:
    """A resource ``gcp:test:Thing`` inside a component, or a component ``llmd-gke:test:Box``."""
    return ResourceNode(
        urn=urn(name),
        type=type_ or ("gcp:test:Thing" if inside else "llmd-gke:test:Box"),
        name=name,
        custom=bool(inside),
        parent=urn(inside) if inside else ROOT_URN,
        provider="",
        depends_on=frozenset(urn(one) for one in after),
        inputs=inputs or {},
        protect=protect,
        deleted_with="",
        timeouts={},
    )


def graph(*nodes: ResourceNode) -> Graph:
    stack = ResourceNode(
        urn=ROOT_URN,
        type="pulumi:pulumi:Stack",
        name="llmd-gke-one",
        custom=False,
        parent="",
        provider="",
        depends_on=frozenset(),
        inputs={},
        protect=False,
        deleted_with="",
        timeouts={},
    )
    return Graph({one.urn: one for one in (stack, *nodes)})
