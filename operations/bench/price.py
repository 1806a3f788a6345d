"""Hardware, chips and price of one model's replicas, from the dated catalogue."""

from __future__ import annotations

from llmd_gke.catalog.cost import Totals
from llmd_gke.settings import ModelSettings, StackSettings


def of_model(settings: StackSettings, model: ModelSettings) -> Totals:
    """Chips and price of the hosts of a model's replicas, without GKE's fee, system nodes and traffic."""
    pool = settings.pool(model.pool)
    return pool.cost(pool.zone_in(settings.cluster.zone), model.most_replicas * pool.slice.hosts)


def hardware(settings: StackSettings, model: ModelSettings) -> str:
    """Machine type, topology (or number of GPUs) and provisioning of a model's pool."""
    pool = settings.pool(model.pool)
    return f"{pool.machine_type} {pool.topology_or_gpus} {pool.provisioning}"
