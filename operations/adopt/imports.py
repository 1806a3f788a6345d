"""The list for ``pulumi import --file``: what the stack would create, and the cluster has already.

The provider comes first, by an update of it alone: ``pulumi import`` makes components, but no provider.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from llmd_common.kubernetes.fields import Object, get, namespace, text
from llmd_gke.graph.resources import Graph, ResourceNode
from llmd_gke.rules import existing as rules
from operations.adopt.live import UNREAD, Key, Live
from operations.doctor.result import Result, failed, ok, warning

PROVIDER = "cluster"
DEEPEST = 3
"""Keys of a path by which a difference is named."""
SERVER_SIDE = "Apply"
"""Operation of a field manager whose fields stay when another one stops to set them."""


@dataclass
class Imports:
    """``resources`` as the engine's import file has them, ``urns``: of their provider, by name."""

    urns: dict[str, str] = field(default_factory=dict[str, str])
    resources: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    results: list[Result] = field(default_factory=list[Result])

    @property
    def file(self) -> dict[str, object]:
        """The content of the file (https://www.pulumi.com/docs/iac/guides/migration/import/#bulk-import-operations)."""
        return {"nameTable": self.urns, "resources": self.resources}


def imports(graph: Graph, live: Live, managed: Collection[str] = ()) -> Imports:
    """What of a stack's graph exists in the cluster. ``managed``: names of what is in the stack's state already."""
    ours = [node for node in graph.nodes.values() if node.custom and node.type.startswith("kubernetes:")]
    wanted = {key: node for node in ours if (key := _key(node)) and node.name not in managed}
    there = live.present({key[:2] for key in wanted})
    made = Imports()
    for key, node in wanted.items():
        if (one := there.get(key)) is None:
            continue
        title = f"{key[1]} {'/'.join(part for part in key[2:] if part)}"
        if owner := rules.owner(one):
            fix = "remove it from there, without deleting it, and run the command again; or name the stack's otherwise"
            made.results.append(failed(title, f"two owners: {owner} would undo what the stack changes", fix))
            continue
        provider, component = node.provider.rpartition("::")[0], graph.nodes[node.parent]
        made.urns[PROVIDER] = provider
        # By a name of its own: a model, a namespace and a pool may share one.
        parent = f"{component.type.rpartition(':')[2]}-{component.name}"
        if component.name not in managed and all(entry["name"] != parent for entry in made.resources):
            shell: dict[str, object] = {
                "type": component.type,
                "name": parent,
                "logicalName": component.name,
                "component": True,
            }
            made.resources.append(shell)
        entry = {"type": node.type, "name": node.name, "id": "/".join(part for part in key[2:] if part)}
        made.resources.append({**entry, "provider": PROVIDER, "parent": parent})
        paths = [*changes(node.inputs, one)]
        shown = ", ".join(paths[:8]) + (f" and {len(paths) - 8} more" if len(paths) > 8 else "")
        made.results.append(ok(title, f"imported; the first `up` changes {shown or 'nothing'}"))
        if kept := [text(by, "manager") for by in _managers(one) if by.get("operation") == SERVER_SIDE]:
            message = f"its fields by `kubectl apply --server-side` ({kept[0]}) stay, beside the stack's"
            made.results.append(
                warning(title, message, "remove fields that the stack does not set, with the same tool")
            )
    made.results += rivals(wanted, live)
    return made


def _key(node: ResourceNode) -> Key | None:
    """``None`` for what has no object of its own: Helm releases, patches."""
    _, version, kind = node.type.split(":")
    if kind in (UNREAD, "Release") or kind.endswith("Patch"):
        return None
    metadata = get(node.inputs, "metadata")
    return version.removeprefix("core/"), kind, text(metadata, "namespace"), text(metadata, "name")


def _managers(one: Object) -> Sequence[Mapping[str, object]]:
    return cast("Sequence[Mapping[str, object]]", get(one, "metadata", "managedFields") or [])


def changes(wanted: object, there: object, path: tuple[str, ...] = ()) -> Iterator[str]:
    """The paths at which an object differs from what the stack sets: other values, and fields that it does not set."""
    if not isinstance(wanted, Mapping) or not isinstance(there, Mapping) or len(path) == DEEPEST:
        if wanted != there:
            yield ".".join(path)
        return
    new, old = cast("Mapping[str, object]", wanted), cast("Mapping[str, object]", there)
    for key, value in new.items():
        if path or key not in ("apiVersion", "kind"):
            yield from changes(value, old.get(key), (*path, key))
    if path[:1] == ("spec",):
        yield from (".".join((*path, key)) for key in old.keys() - new.keys())


def rivals(wanted: Collection[Key], live: Live) -> Iterator[Result]:
    """Hand-made health checks and backend policies for what the stack's own will be about: GKE follows one of them."""
    for kind in ("HealthCheckPolicy", "GCPBackendPolicy"):
        version = "networking.gke.io/v1"
        for one in live.items(version, live.plural(version, kind) or kind):
            space, title = namespace(one), text(one, "metadata", "name")
            if (version, kind, space, title) not in wanted:
                target = f"{text(one, 'spec', 'targetRef', 'kind')} {text(one, 'spec', 'targetRef', 'name')}"
                fix = f"after the first `up`: kubectl -n {space} delete {kind.lower()} {title}"
                yield warning(f"{kind} {space}/{title}", f"not imported: the stack has its own for {target}", fix)
