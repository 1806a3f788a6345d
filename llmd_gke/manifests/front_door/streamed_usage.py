"""The EnvoyPatchPolicy by which token budgets count streams (:mod:`llmd_gke.catalog.streamed_usage`)."""

from __future__ import annotations

from llmd_gke.catalog import front_door
from llmd_gke.catalog.streamed_usage import FILTER
from llmd_gke.json_types import JsonObject


def filtered() -> JsonObject:
    """Adds the filter to the front door's proxies: after keys are checked, before AI Gateway reads the request."""
    script = f"envoy.filters.http.lua/envoyextensionpolicy/{front_door.NAMESPACE}/callers/lua/0"
    operation: JsonObject = {
        "op": "add",
        "jsonPath": f"$.default_filter_chain.filters[0].typed_config.http_filters[?(@.name=='{script}')]",
        "value": FILTER,
    }
    listener = "type.googleapis.com/envoy.config.listener.v3.Listener"
    name = f"{front_door.NAMESPACE}/{front_door.NAME}/http"
    return {
        "apiVersion": front_door.GATEWAY_VERSION,
        "kind": "EnvoyPatchPolicy",
        "metadata": {"name": "usage", "namespace": front_door.NAMESPACE},
        "spec": {
            "targetRef": {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": front_door.NAME},
            "type": "JSONPatch",
            "jsonPatches": [{"type": listener, "name": name, "operation": operation}],
        },
    }
