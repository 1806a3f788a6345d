"""A recorded graph by components: what each waits for, and the critical chain."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from llmd_gke.graph.resources import Graph, ResourceNode

STACK = "pulumi:pulumi:Stack"
PROVIDERS = "pulumi:providers:"

Edge = tuple[str, str]
"""From the earlier component to the later one, by name."""


@dataclass(frozen=True)
class Part:
    """An outermost component with the resources inside it, by name."""

    name: str
    type: str
    resources: tuple[ResourceNode, ...]

    @property
    def kind(self) -> str:
        """The last part of the type token, such as ``Pool``."""
        return _last_part(self.type)

    @property
    def kinds(self) -> list[tuple[str, int]]:
        """The kinds of its resources with their number, by name."""
        return sorted(Counter(kind_of(node) for node in self.resources).items())


@dataclass(frozen=True)
class Parts:
    """The components of a graph. Nodes that belong to no component, such as the Google provider, are left out."""

    graph: Graph

    @cached_property
    def by_name(self) -> dict[str, Part]:
        """The components by name: first those that wait for nothing, then those that wait for them, and so on.

        The engine registers what is ready, so the order of the recording differs from run to run.
        """
        inside: dict[str, list[ResourceNode]] = {}
        for node in self.graph.nodes.values():
            owner = self._owner(node.urn)
            if owner and is_resource(node):
                inside.setdefault(owner, []).append(node)
        outermost = [node for node in self.graph.nodes.values() if node.urn == self._owner(node.urn)]
        outermost.sort(key=lambda node: (len(_closure(self._waits, node.name)), node.name))
        resources = {urn: tuple(sorted(nodes, key=lambda node: node.name)) for urn, nodes in inside.items()}
        return {node.name: Part(node.name, node.type, resources.get(node.urn, ())) for node in outermost}

    @cached_property
    def edges(self) -> frozenset[Edge]:
        """Which component waits for which, without edges that follow from others (transitive reduction)."""
        return frozenset(
            (earlier, later)
            for later, earliers in self._waits.items()
            for earlier in earliers
            if not any(earlier in _closure(self._waits, other) for other in earliers - {earlier})
        )

    @cached_property
    def _waits(self) -> dict[str, set[str]]:
        earlier_by_part: dict[str, set[str]] = {}
        for node in self.graph.nodes.values():
            later = self._name_of(node.urn)
            if not later:
                continue
            earliers = {self._name_of(urn) for urn in node.depends_on} - {"", later}
            earlier_by_part.setdefault(later, set()).update(earliers)
        return earlier_by_part

    @cached_property
    def chain(self) -> tuple[ResourceNode, ...]:
        """The longest chain of resources in which each waits for the one before: no amount of parallelism shortens it.

        Among chains of equal length: the one whose names, compared from the end, come first in the alphabet.
        """
        return self._longest()

    @cached_property
    def chain_parts(self) -> tuple[str, ...]:
        """The components on the chain, in order."""
        names = [self._name_of(node.urn) for node in self.chain]
        return tuple(dict.fromkeys(name for name in names if name))

    @property
    def chain_edges(self) -> frozenset[Edge]:
        """Steps of the chain from one component to the next."""
        return frozenset(zip(self.chain_parts, self.chain_parts[1:], strict=False))

    def _longest(self) -> tuple[ResourceNode, ...]:
        best: dict[str, tuple[ResourceNode, ...]] = {}
        for node in self.graph.in_order():
            earlier = self.graph.before(node, direct=True)
            before = max((best[urn] for urn in earlier if urn in best), key=_rank, default=())
            best[node.urn] = (*before, node) if is_resource(node) else before
        return max(best.values(), key=_rank, default=())

    def _owner(self, urn: str) -> str:
        """The outermost component around a resource (itself, if it is one); empty for what has none."""
        owner = ""
        while (node := self.graph.nodes.get(urn)) is not None and node.type != STACK:
            if not node.custom:
                owner = node.urn
            urn = node.parent
        return owner

    def _name_of(self, urn: str) -> str:
        owner = self._owner(urn)
        return self.graph.nodes[owner].name if owner else ""


def is_resource(node: ResourceNode) -> bool:
    """Whether it becomes a resource of a cloud: it is neither a component nor a provider."""
    return node.custom and not node.type.startswith(PROVIDERS)


def kind_of(node: ResourceNode) -> str:
    """A resource's kind in short: ``NodePool``, ``HTTPRoute``."""
    return _last_part(node.type)


def _last_part(type_: str) -> str:
    return type_.rsplit(":", 1)[-1]


def _rank(chain: tuple[ResourceNode, ...]) -> tuple[int, list[tuple[int, ...]]]:
    """The sort key of a chain: longer chains first, then by names, compared from the end."""
    return len(chain), [tuple(-ord(letter) for letter in node.name) for node in reversed(chain)]


def _closure(waits: dict[str, set[str]], name: str) -> set[str]:
    seen: set[str] = set()
    open_ = list(waits[name])
    while open_:
        one = open_.pop()
        if one not in seen:
            seen.add(one)
            open_.extend(waits[one])
    return seen
