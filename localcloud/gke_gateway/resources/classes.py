"""GKE's GatewayClasses and their features.

Sources: https://cloud.google.com/kubernetes-engine/docs/how-to/gatewayclass-capabilities; for InferencePools llm-d's
gateway guide for GKE (llm-d/llm-d guides/prereq, 3b9ac7a9).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from localcloud.gke_gateway.resources.objects import GATEWAY_CLASS, GATEWAY_GROUP
from localcloud.product import INFERENCE_POOL_CLASSES, REGIONAL_EXTERNAL, REGIONAL_INTERNAL
from localcloud.providers.protocol.values import JsonObject

CONTROLLER = "networking.gke.io/gateway"
"""``controllerName`` of GKE's classes and statuses (kubectl get gatewayclass on GKE; kserve/kserve#5311)."""


@dataclass(frozen=True)
class GatewayClass:
    """A GatewayClass. ``pools``: it can carry an InferencePool. ``filters``: its routes can have filters."""

    name: str
    description: str
    internal: bool = False
    filters: bool = True

    @property
    def pools(self) -> bool:
        """Whether backends that are InferencePools ever become healthy."""
        return self.name in INFERENCE_POOL_CLASSES


_ALL = (
    GatewayClass(REGIONAL_EXTERNAL, "Regional external Application Load Balancer"),
    GatewayClass(REGIONAL_INTERNAL, "Regional internal Application Load Balancer", internal=True),
    GatewayClass("gke-l7-global-external-managed", "Global external Application Load Balancer"),
    GatewayClass("gke-l7-gxlb", "Classic Application Load Balancer", filters=False),
)

CLASSES: Mapping[str, GatewayClass] = {entry.name: entry for entry in _ALL}
"""The single-cluster classes. Multi-cluster ones come with a fleet feature that the program does not use."""


def objects() -> list[JsonObject]:
    """The GatewayClass objects that GKE makes once the Gateway API is on."""
    return [
        {
            "apiVersion": f"{GATEWAY_GROUP}/v1",
            "kind": GATEWAY_CLASS,
            "metadata": {"name": entry.name},
            "spec": {"controllerName": CONTROLLER, "description": entry.description},
        }
        for entry in _ALL
    ]
