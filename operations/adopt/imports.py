"""The list for ``pulumi import --file``: what the stack would create, and the cluster has already.

The provider comes first, by an update of it alone: ``pulumi import`` makes components, but no provider. It leaves out
what is in the state, such as after an import that was interrupted (pulumi ``pkg/resource/deploy/import.go``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from llmd_common.kubernetes.fields import each, get, name, namespace, part, text
from llmd_gke.graph.resources import Graph, ResourceNode
from llmd_gke.rules import existing as rules
from operations.doctor.platform import POLICIES, ROUTE, Live
from operations.doctor.result import Result, failed, ok, warning

PROVIDER = "cluster"
DEEPEST = 3
"""Keys of a path by which a difference is named."""
NOT_IMPORTED = ("Namespace", "Release", "Secret")
"""A destroy would delete everything in a namespace, Helm's releases are no objects, and Secrets are never read."""

Key = tuple[str, str, str]
"""Kind (KIND.GROUP), namespace (empty if the kind has none) and name."""


def imports(graph: Graph, live: Live) -> tuple[dict[str, object], list[Result]]:
    """The content of the file (https://www.pulumi.com/docs/iac/guides/migration/import/#bulk-import-operations), and
    what the first update changes about each object, or why it is not imported.
    """
    ours = [node for node in graph.nodes.values() if node.custom and node.type.startswith("kubernetes:")]
    wanted = {key: node for node in ours if (key := _key(node))}
    live.read({kind for kind, *_ in wanted})
    there = {(kind, namespace(one), name(one)): one for kind in {key[0] for key in wanted} for one in live.of(kind)}
    results: list[Result] = []
    providers: dict[str, str] = {}
    listed: dict[str, dict[str, object]] = {}
    for key, node in wanted.items():
        if (one := there.get(key)) is None:
            continue
        ident = "/".join(part for part in key[1:] if part)
        title = f"{key[0].partition('.')[0]} {ident}"
        if owner := rules.owner(one):
            fix = "remove it from there, without deleting it, and run the command again; or name the stack's otherwise"
            results.append(failed(title, f"two owners: {owner} would undo what the stack changes", fix))
            continue
        component = graph.nodes[node.parent]
        providers[PROVIDER] = node.provider.rpartition("::")[0]
        # By a name of its own: a model, a namespace and a pool may share one.
        parent = f"{component.type.rpartition(':')[2]}-{component.name}"
        listed[parent] = {"type": component.type, "name": parent, "logicalName": component.name, "component": True}
        listed[title] = {"type": node.type, "name": node.name, "id": ident, "provider": PROVIDER, "parent": parent}
        paths = [*changes(node.inputs, one)]
        results.append(ok(title, f"imported; the first `up` changes {', '.join(paths) or 'nothing'}"))
    return {"nameTable": providers, "resources": [*listed.values()]}, [*results, *rivals(wanted, live)]


def _key(node: ResourceNode) -> Key | None:
    _, version, kind = node.type.split(":")
    if kind in NOT_IMPORTED or kind.endswith("Patch"):
        return None
    group, metadata = version.rpartition("/")[0].removeprefix("core"), get(node.inputs, "metadata")
    return f"{kind}.{group}".rstrip("."), text(metadata, "namespace"), text(metadata, "name")


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


def rivals(wanted: Mapping[Key, ResourceNode], live: Live) -> Iterator[Result]:
    """Hand-made routes, health checks and backend policies for what the stack's own are about: GKE follows one of them,
    of routes the oldest (https://gateway-api.sigs.k8s.io/reference/spec/#httprouterule). KServe deletes its own routes.
    """
    for kind in (*POLICIES, ROUTE):
        ours = {(key[1], to) for key, node in wanted.items() if key[0] == kind for to in _targets(node.inputs)}
        for one in live.of(kind):
            space, title, plain = namespace(one), name(one), kind.partition(".")[0]
            owned = (kind, space, title) in wanted or get(one, "metadata", "ownerReferences")
            if shared := [] if owned else [to for to in _targets(one) if (space, to) in ours]:
                fix = f"after the first `up`: kubectl -n {space} delete {plain.lower()} {title}"
                message = f"not imported: the stack has its own for {', '.join(shared)}"
                yield warning(f"{plain} {space}/{title}", message, fix)


def _targets(one: object) -> list[str]:
    targets = [ref for rule in each(one, "spec", "rules") for ref in each(rule, "backendRefs")]
    targets += [policy] if (policy := part(one, "spec", "targetRef")) else []
    return list(dict.fromkeys(f"{text(to, 'kind') or 'Service'} {text(to, 'name')}" for to in targets))
