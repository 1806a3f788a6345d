"""A recorded graph: resources by URN, and the order in which they are created."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter


@dataclass(frozen=True)
class ResourceNode:
    """One registered resource. ``depends_on`` holds URNs: explicit dependencies and those through properties."""

    urn: str
    type: str
    name: str
    custom: bool
    parent: str
    provider: str
    depends_on: frozenset[str]
    inputs: Mapping[str, object]
    protect: bool
    deleted_with: str
    timeouts: Mapping[str, str]
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    tried_again: bool = False
    """Whether a hook decides after a failure if it is tried again."""


@dataclass
class Graph:
    """What the program registered, by URN, and the outputs it exported (``UNKNOWN`` where not known)."""

    nodes: dict[str, ResourceNode] = field(default_factory=dict[str, ResourceNode])
    outputs: dict[str, object] = field(default_factory=dict[str, object])

    def find(self, type_: str, name: str | None = None) -> ResourceNode:
        """The only resource of that type (and name). Raises ``LookupError`` when there is none or more than one."""
        matches = [node for node in self.nodes.values() if node.type == type_ and name in (None, node.name)]
        if len(matches) != 1:
            raise LookupError(
                f"{len(matches)} resources of type {type_} {name or ''}: {[node.name for node in matches]}"
            )
        return matches[0]

    def all(self, type_: str) -> list[ResourceNode]:
        """Every resource whose type starts with ``type_``."""
        return [node for node in self.nodes.values() if node.type.startswith(type_)]

    def before(self, node: ResourceNode, *, direct: bool = False) -> set[str]:
        """URNs of everything that exists before this resource and outlives it: the closure over all edges.

        A child comes after whatever its parent depends on, a resource after its provider. ``direct``: one step only.
        """
        if direct:
            return set(self._edges(node))
        seen: set[str] = set()
        open_ = list(self._edges(node))
        while open_:
            urn = open_.pop()
            if urn not in seen and urn in self.nodes:
                seen.add(urn)
                open_.extend(self._edges(self.nodes[urn]))
        return seen

    def _edges(self, node: ResourceNode) -> Iterator[str]:
        yield from node.depends_on
        if node.parent in self.nodes:
            yield node.parent
        if node.provider:
            yield node.provider.rsplit("::", 1)[0]
        # A dependency on a component is a dependency on everything inside it.
        for dependency in node.depends_on:
            yield from (child.urn for child in self.nodes.values() if child.parent == dependency)

    def in_order(self) -> list[ResourceNode]:
        """All resources, each after those that it waits for. Raises ``graphlib.CycleError``."""
        waits = {urn: self.before(node, direct=True) & self.nodes.keys() for urn, node in self.nodes.items()}
        return [self.nodes[urn] for urn in TopologicalSorter(waits).static_order()]

    def comes_before(self, earlier: ResourceNode, later: ResourceNode) -> bool:
        """Whether ``earlier`` is created before ``later``, and destroyed after it."""
        return earlier.urn in self.before(later)
