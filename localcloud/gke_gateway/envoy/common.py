"""Small pieces of Envoy's configuration that several resources share."""

from __future__ import annotations

from pathlib import Path

from localcloud.providers.protocol.values import JsonObject

TYPE = "type.googleapis.com/"
PICKED = "x-gateway-destination-endpoint"
"""Header in which an endpoint picker names the pods to try, best first
(kubernetes-sigs/gateway-api-inference-extension ``docs/proposals/004-endpoint-picker-protocol``)."""

SERVED = f"{PICKED}-served"
"""Metadata by which a picker learns the pod that served a request, as ``IP:PORT`` (the same proposal: each data plane
must send it, since a request may be served by another pod than the picked one)."""
SERVED_NAMESPACE = "envoy.lb"
"""The metadata's namespace."""

NOWHERE = "nowhere"
"""A cluster without endpoints: for references that do not resolve, and as the picker of routes without one."""


def typed(message: str, **fields: object) -> JsonObject:
    """A message of that type name (``envoy.extensions.….v3.Something``) for a ``typed_config``."""
    return {"@type": f"{TYPE}{message}", **fields}  # pyright: ignore[reportReturnType]


def extension(name: str, message: str, **fields: object) -> JsonObject:
    """A named extension with its configuration."""
    return {"name": name, "typed_config": typed(message, **fields)}


def seconds(value: float) -> str:
    """A duration in Envoy's JSON format: ``1.5s``."""
    return f"{value:g}s"


def from_file(file: Path) -> JsonObject:
    """A configuration source: a file that Envoy reads again whenever another is moved to its place."""
    return {
        "resource_api_version": "V3",
        "path_config_source": {"path": str(file), "watched_directory": {"path": str(file.parent)}},
    }
