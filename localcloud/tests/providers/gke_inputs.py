"""Inputs of clusters and node pools, as GKE takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Result

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
Props = dict[str, Any]


def pool(*, machine: str = "ct6e-standard-4t", disk: str | None = "hyperdisk-balanced", **over: Any) -> Props:
    node: Props = {"machineType": machine} | ({"diskType": disk} if disk else {})
    base: Props = {
        "name": "tpu",
        "cluster": "gke",
        "location": "europe-west4",
        "nodeLocations": ["europe-west4-a"],
        "initialNodeCount": 0,
        "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4},
        "nodeConfig": node,
    }
    return base | over


def slice_(topology: str, nodes: int, **over: Any) -> Props:
    return (
        pool(
            placementPolicy={"type": "COMPACT", "tpuTopology": topology},
            initialNodeCount=0,
            autoscaling={"minNodeCount": 0, "maxNodeCount": nodes},
        )
        | over
    )


def plain(made: Result) -> Props:
    return {key: value for key, value in made.inputs.items() if key != "__defaults"}


def node(**config: Any) -> Props:
    return {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced"} | config
