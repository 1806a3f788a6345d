"""CRDs of the front door as a chart of our own: ``python -m tests.schema.record_front_door`` writes ``charts/``.

Each has the names, the scope and the versions of its kind, and the values that the API server fills in, taken from the
published ones at the version of ``versions.toml``. Everything else is left open: the tests check every object against
the published CRDs, in full. InferenceObjective is written by hand after llm-d/llm-d-router v0.9.0 ``config/crd/bases``,
which is in no package registry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import yaml

from llmd_gke.catalog import front_door, versions
from tests.schema import sources
from tests.schema.structural import Table, table

CHART = Path(__file__).parents[2] / "charts" / front_door.CRDS_CHART
KINDS = (
    "Backend",
    "BackendTrafficPolicy",
    "ClientTrafficPolicy",
    "EnvoyExtensionPolicy",
    "EnvoyPatchPolicy",
    "EnvoyProxy",
    "HTTPRouteFilter",
    "SecurityPolicy",
)
"""What Envoy Gateway reads, and AI Gateway writes."""
WATCHED = ("BackendTLSPolicy", "GRPCRoute", "ListenerSet", "TLSRoute")
"""Kinds of the Gateway API that Envoy Gateway 1.8 exits without, and GKE's add-on lacks (envoyproxy/gateway#9517).

They are in the chart's folder ``crds``: Helm installs those that are missing, leaves others alone, and removes none."""
PODS = frozenset({"container", "initContainers", "pod", "patch", "env", "volumes", "affinity"})
"""Parts of an EnvoyProxy that are objects of Kubernetes, which the API server fills in in the Deployment."""
OPEN: Table = {"x-kubernetes-preserve-unknown-fields": True}


def filled_in(node: Table) -> bool:
    """Whether the API server fills in a value somewhere in what this schema describes."""
    inner = [*table(node.get("properties")).values(), node.get("items"), node.get("additionalProperties")]
    return "default" in node or any(filled_in(table(one)) for one in inner if isinstance(one, dict))


def recorded(node: Table) -> Table:
    """What a schema fills in, and nothing else: other fields of an object are kept as they are given."""
    kept: Table = {key: node[key] for key in ("type", "default", "x-kubernetes-int-or-string") if key in node}
    fields = {
        name: table(inner)
        for name, inner in table(node.get("properties")).items()
        if filled_in(table(inner)) and name not in PODS
    }
    if fields:
        kept["properties"] = {name: recorded(inner) for name, inner in fields.items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            kept[key] = recorded(table(node[key]))
    return kept | OPEN if node.get("type") == "object" and "additionalProperties" not in kept else kept


def definition(published: Table) -> Table:
    spec = table(published["spec"])
    metadata = table(published["metadata"])
    annotations = {
        key: value
        for key, value in table(metadata.get("annotations")).items()
        if key.startswith("gateway.networking.k8s.io/") or key == "api-approved.kubernetes.io"
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        # GKE admits CRDs of the Gateway API by the annotation of their channel.
        "metadata": {"name": metadata["name"], **({"annotations": annotations} if annotations else {})},
        "spec": {
            "group": spec["group"],
            "names": spec["names"],
            "scope": spec["scope"],
            "versions": [
                {
                    "name": version["name"],
                    "served": version["served"],
                    "storage": version["storage"],
                    "subresources": version.get("subresources", {}),
                    "schema": {"openAPIV3Schema": _whole(table(version["schema"]))},
                }
                for version in cast("list[Table]", spec["versions"])
            ],
        },
    }


def _whole(schema: Table) -> Table:
    """``spec`` alone: the API server knows ``metadata``, and nobody is given a default for a status."""
    spec = table(table(table(schema["openAPIV3Schema"])["properties"])["spec"])
    return {"type": "object", "properties": {"spec": recorded(spec)}, **OPEN}


def objective() -> Table:
    """InferenceObjective: the priority of requests that name it, in one pool."""
    reference: Table = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "group": {"type": "string", "maxLength": 253, "default": "inference.networking.k8s.io"},
            "kind": {"type": "string", "minLength": 1, "maxLength": 63, "default": "InferencePool"},
            "name": {"type": "string", "minLength": 1, "maxLength": 253},
        },
    }
    spec: Table = {
        "type": "object",
        "required": ["poolRef"],
        "properties": {"poolRef": reference, "priority": {"type": "integer", "format": "int32"}},
    }
    schema: Table = {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": {"type": "object", **OPEN},
        },
    }
    group, _, version = front_door.OBJECTIVE_VERSION.partition("/")
    names: Table = {
        "kind": "InferenceObjective",
        "listKind": "InferenceObjectiveList",
        "plural": "inferenceobjectives",
        "singular": "inferenceobjective",
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"inferenceobjectives.{group}"},
        "spec": {
            "group": group,
            "names": names,
            "scope": "Namespaced",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def files() -> Iterator[tuple[str, str]]:
    definitions = dict(_definitions())
    yield from definitions.items()
    digest = hashlib.sha256("".join(definitions.values()).encode()).hexdigest()[:8]
    version = versions.modules()["github.com/envoyproxy/gateway"]
    chart: Table = {
        "apiVersion": "v2",
        "name": front_door.CRDS_CHART,
        "description": "CRDs of Envoy Gateway and InferenceObjective: names, versions and defaults",
        "type": "application",
        # The provider updates a release whose chart has another version, and does not look at its files.
        "version": f"{version.removeprefix('v')}+{digest}",
        "appVersion": version,
        "sources": [
            f"https://github.com/envoyproxy/gateway/tree/{version}/charts/gateway-crds-helm",
            "https://github.com/llm-d/llm-d-router/tree/v0.9.0/config/crd/bases",
        ],
    }
    yield "Chart.yaml", _yaml(chart)
    yield (
        "values.yaml",
        '# The version of Envoy Gateway that the CRDs were recorded for.\nrecordedFrom: ""\n',
    )


def _definitions() -> Iterator[tuple[str, str]]:
    for kind in KINDS:
        yield f"templates/{kind.lower()}.yaml", _yaml(definition(sources.crd(kind)))
    for kind in WATCHED:
        yield f"crds/{kind.lower()}.yaml", _yaml(definition(sources.crd(kind)))
    yield "templates/inferenceobjective.yaml", _yaml(objective())


def _yaml(value: Table) -> str:
    head = "# Generated by `python -m tests.schema.record_front_door`.\n"
    return head + yaml.safe_dump(value, sort_keys=False, default_flow_style=None, width=160)


def main() -> None:
    for name, content in files():
        file = CHART / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
