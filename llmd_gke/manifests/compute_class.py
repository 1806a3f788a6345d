"""The ComputeClass that orders the node pools of a pool with several capacities."""

from __future__ import annotations

from llmd_gke.catalog import compute_class as catalogue
from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.settings import PoolSettings


def compute_class(pool: PoolSettings) -> JsonObject:
    """The class of a pool with a list of capacities, one priority for each entry.

    GKE neither creates node pools for it nor falls back to other machines. Without ``returnToPreferred`` a running
    replica stays where it is: moving it means loading the model again.
    """
    annotations: JsonObject = {catalogue.MAX_HOSTS: str(pool.max_nodes)}
    if pool.accept_reclaimable:
        annotations[catalogue.RECLAIMABLE] = catalogue.ACCEPTED
    priorities: list[Json] = [{"nodepools": [one.name]} for one in pool.node_pools]
    spec: JsonObject = {
        "priorities": priorities,
        "activeMigration": {"optimizeRulePriority": pool.return_to_preferred},
        "nodePoolAutoCreation": {"enabled": False},
        "whenUnsatisfiable": "DoNotScaleUp",
    }
    return kubernetes_object(
        catalogue.VERSION, catalogue.KIND, pool.compute_class or "", annotations=annotations, spec=spec
    )
