"""Types for JSON-like objects, and Kubernetes objects among them."""

from __future__ import annotations

from typing import TypeAlias

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = "dict[str, Json]"


def kubernetes_object(
    api_version: str,
    kind: str,
    name: str,
    namespace: str | None = None,
    *,
    annotations: JsonObject | None = None,
    **fields: Json,
) -> JsonObject:
    """An object of a namespace, or of the cluster without one. ``fields``: those beside ``metadata``."""
    metadata: JsonObject = {"name": name}
    if namespace is not None:
        metadata["namespace"] = namespace
    if annotations is not None:
        metadata["annotations"] = annotations
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
