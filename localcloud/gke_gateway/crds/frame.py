"""The parts of a CustomResourceDefinition that all of ours share, around the schema."""

from __future__ import annotations

from collections.abc import Mapping

from localcloud.providers.protocol.values import JsonObject

OPEN: JsonObject = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""The schema of an object that may have any fields."""


def object_schema(spec: JsonObject, status: JsonObject = OPEN) -> JsonObject:
    """The schema of an object with a required ``spec``."""
    text: JsonObject = {"type": "string"}
    metadata: JsonObject = {"type": "object"}
    return {
        "type": "object",
        "required": ["spec"],
        "properties": {"apiVersion": text, "kind": text, "metadata": metadata, "spec": spec, "status": status},
    }


def definition(
    group: str,
    kind: str,
    plural: str,
    *,
    schema: JsonObject,
    labels: Mapping[str, str],
    version: str = "v1",
    namespaced: bool = True,
) -> JsonObject:
    """A kind with one ``version``, and a status of its own; not ``namespaced``: of the whole cluster."""
    metadata: JsonObject = {"name": f"{plural}.{group}"}
    if labels:
        metadata["labels"] = dict(labels)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {
            "group": group,
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "scope": "Namespaced" if namespaced else "Cluster",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
            ],
        },
    }
