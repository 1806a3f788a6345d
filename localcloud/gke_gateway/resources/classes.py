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
    """A GatewayClass."""

    name: str
    description: str
    internal: bool = False

    @property
    def pools(self) -> bool:
        """Whether backends that are InferencePools ever become healthy."""
        return self.name in INFERENCE_POOL_CLASSES


_ALL = (
    GatewayClass(REGIONAL_EXTERNAL, "Regional external Application Load Balancer"),
    GatewayClass(REGIONAL_INTERNAL, "Regional internal Application Load Balancer", internal=True),
    GatewayClass("gke-l7-global-external-managed", "Global external Application Load Balancer"),
)

CLASSES: Mapping[str, GatewayClass] = {entry.name: entry for entry in _ALL}
"""The single-cluster classes but the classic one. Multi-cluster ones come with a fleet feature that no stack uses."""


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
