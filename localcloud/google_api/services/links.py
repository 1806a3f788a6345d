"""How resources refer to each other in Google's APIs."""

from __future__ import annotations

from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.rules.references import NODE_POOL
from localcloud.google_api.rules.resource_type import digits
from localcloud.providers.protocol.values import number, texts

COMPUTE = "https://www.googleapis.com/compute/v1"
GKE = "https://container.googleapis.com/v1"


def compute_link(path: str) -> str:
    """Compute Engine's URL of a resource."""
    return f"{COMPUTE}/{path}"


def group_name(pool: str) -> str:
    """The instance group of a node pool, as GKE calls it: cluster and pool, cut, and a hash."""
    parts = pool.split("/")
    return f"gke-{parts[5][:14]}-{parts[7][:14]}-{digits(pool, 8)}-grp"


def pools_in(cloud: EmulatedCloud, project: str, zone: str) -> dict[str, int]:
    """Node pools with nodes in a zone, and how many."""
    with cloud.state() as cloud_state:
        records = cloud_state.all(NODE_POOL)
    node_counts: dict[str, int] = {}
    for key, pool in cloud.resources.items():
        where = texts(pool, "locations")
        if "/nodePools/" in key and key.split("/")[1] == project and zone in where:
            node_counts[key] = (number(records.get(key, {}), "nodes") or 0) // max(1, len(where))
    return node_counts
