"""The implementations of the Gateway API that the program can put in front of models.

A further one is a module beside :mod:`llmd_gke.gateways.gke` and an entry in :data:`IMPLEMENTATIONS`;
``CONTRIBUTING.md`` lists the other files that it opens.
"""

from __future__ import annotations

from llmd_gke.gateways.gateway import (
    INFERENCE_POOL_GROUP,
    Explained,
    GatewayImplementation,
    PolicyKind,
    RouteFeature,
    Serving,
    Target,
)
from llmd_gke.gateways.gke import GKE

__all__ = [
    "DEFAULT",
    "GKE",
    "IMPLEMENTATIONS",
    "INFERENCE_POOL_GROUP",
    "Explained",
    "GatewayImplementation",
    "PolicyKind",
    "RouteFeature",
    "Serving",
    "Target",
]

IMPLEMENTATIONS: tuple[GatewayImplementation, ...] = (GKE,)

DEFAULT = GKE
"""The one that stacks use."""
