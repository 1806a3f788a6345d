"""The implementations of the Gateway API that the program can put in front of models.

Another one needs a module next to :mod:`llmd_gke.gateways.gke` and an entry in :data:`IMPLEMENTATIONS`;
``CONTRIBUTING.md`` lists the other files to change.
"""

from __future__ import annotations

from llmd_gke.gateways.gateway import (
    INFERENCE_POOL_GROUP,
    Explained,
    GatewayImplementation,
    IdentityProxy,
    PolicyKind,
    PolicyTarget,
    RouteFeature,
    Serving,
)
from llmd_gke.gateways.gke import GKE

__all__ = [
    "DEFAULT",
    "GKE",
    "HEALTH_CHECK_RANGES",
    "IMPLEMENTATIONS",
    "INFERENCE_POOL_GROUP",
    "Explained",
    "GatewayImplementation",
    "IdentityProxy",
    "PolicyKind",
    "PolicyTarget",
    "RouteFeature",
    "Serving",
]

IMPLEMENTATIONS: tuple[GatewayImplementation, ...] = (GKE,)

DEFAULT = GKE
"""The implementation that stacks use."""

HEALTH_CHECK_RANGES = tuple(sorted({block for one in IMPLEMENTATIONS for block in one.health_check_ranges}))
"""Sources of health checks that the VPC's firewall admits, for all implementations."""
