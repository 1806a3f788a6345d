"""What a pull request does to the resources of a stack: from two recorded graphs, or as the engine plans it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from llmd_common.kubernetes.fields import get, part, text, texts
from llmd_gke.graph.parts import is_resource
from llmd_gke.graph.resources import Graph, ResourceNode
from operations.comment import values
from operations.exits import BadInput

Op = Literal["create", "update", "replace", "delete"]
REPLACES = "replaces"
OPS: tuple[Op, ...] = ("replace", "delete", "create", "update")

_OF_ENGINE: Mapping[str, Op] = {
    "create": "create",
    "import": "create",
    "update": "update",
    "delete": "delete",
    "replace": "replace",
    "create-replacement": "replace",
    "delete-replaced": "replace",
    "import-replacement": "replace",
}
"""The engine's operations (pulumi/pulumi v3.259.0, sdk/go/common/apitype/updates.go); others change nothing."""


@dataclass(frozen=True)
class Change:
    """A change of one resource. ``details``: paths into its inputs, each with old and new value if they may be
    shown.
    """

    op: Op
    name: str
    type: str
    details: tuple[values.Change, ...] = ()


def between(before: Graph, after: Graph) -> list[Change]:
    """The difference of two recordings. Only the engine knows whether an update replaces the resource."""
    old = {urn: node for urn, node in before.nodes.items() if is_resource(node)}
    new = {urn: node for urn, node in after.nodes.items() if is_resource(node)}
    changes = [Change("delete", node.name, node.type) for urn, node in old.items() if urn not in new]
    for urn, node in new.items():
        if urn not in old:
            changes.append(Change("create", node.name, node.type))
        elif details := _details(old[urn], node):
            changes.append(Change("update", node.name, node.type, tuple(details)))
    return _sorted(changes)


def _details(before: ResourceNode, after: ResourceNode) -> list[values.Change]:
    details = values.changed(after.type, before.inputs, after.inputs)
    if before.protect != after.protect:
        details.append(("protect", f"{before.protect} → {after.protect}".lower()))
    if before.timeouts != after.timeouts:
        details.append(("timeouts", ""))
    return details


def planned(file: Path) -> list[Change]:
    """The changes in the output of ``pulumi preview --json``. Raises ``BadInput`` for any other file."""
    problem = f"{file} is not the output of `pulumi preview --json`"
    fix = "Fix: pulumi preview --json --stack STACK > FILE, and pass it as --preview STACK=FILE"
    try:
        steps = get(json.loads(file.read_text(encoding="utf-8")), "steps")
    except FileNotFoundError:
        raise BadInput(f"{file} does not exist.\n{fix}") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{problem}: {error}\n{fix}") from None
    if not isinstance(steps, list):
        raise BadInput(f"{problem}: the list `steps` is missing.\n{fix}")
    by_urn: dict[str, Change] = {}
    for step in cast("Sequence[Mapping[str, object]]", steps):
        op, urn = _OF_ENGINE.get(str(step.get("op"))), str(step.get("urn"))
        type_ = urn.split("::")[2].split("$")[-1] if urn.count("::") >= 3 else ""
        if op is None or not type_ or not _counts(step, type_):
            continue
        change = Change(op, urn.split("::", 3)[3], type_, _paths(step))
        earlier = by_urn.get(urn)
        if earlier is None or OPS.index(op) < OPS.index(earlier.op) or len(change.details) > len(earlier.details):
            by_urn[urn] = change
    return _sorted(by_urn.values())


def _counts(step: Mapping[str, object], type_: str) -> bool:
    """Whether a step is about a resource of a cloud, and not about a component or a provider."""
    state = part(step, "newState") or part(step, "oldState")
    return bool(state.get("custom", True)) and not type_.startswith(("pulumi:providers:", "pulumi:pulumi:"))


def _paths(step: Mapping[str, object]) -> tuple[values.Change, ...]:
    """The paths of the inputs that differ, with a note on those that cause a replacement; without values."""
    detailed = part(step, "detailedDiff")
    replacing = {path for path, one in detailed.items() if text(one, "kind").endswith("-replace")}
    replacing |= {*texts(step, "replaceReasons")}
    paths = detailed or texts(step, "diffReasons")
    return tuple((path, REPLACES if path in replacing else "") for path in dict.fromkeys([*paths, *sorted(replacing)]))


def with_steps(plan: Iterable[Change], compared: Iterable[Change]) -> list[Change]:
    """The engine's plan, with the values from the comparison of recordings."""
    details_of = {(one.type, one.name): dict(one.details) for one in compared}
    return [
        replace(one, details=tuple((path, _both(steps.get(path, ""), why)) for path, why in one.details))
        for one in plan
        for steps in [details_of.get((one.type, one.name), {})]
    ]


def _both(step: str, why: str) -> str:
    return f"{step}, {why}" if step and why else step or why


def _sorted(changes: Iterable[Change]) -> list[Change]:
    return sorted(changes, key=lambda change: (OPS.index(change.op), change.name, change.type))
