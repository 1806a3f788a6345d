"""Whether a node pool's nodes can be made: quota and stock, and the state that GKE leaves the pool in."""

from __future__ import annotations

from localcloud.google_api.rules.nodepools import cluster_of, first_nodes, pool_zones
from localcloud.google_api.rules.references import NODE_POOL
from localcloud.google_api.rules.resource_type import CloudState, TargetResource
from localcloud.product import accelerators, zones
from localcloud.providers.protocol.faults import Faults
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, number, objects, text

DEFAULT_QUOTA = 64
"""Chips of a family per region. Real projects start at 0; the rehearsal's project has been granted some."""


def chips_of(machine: str, inputs: JsonValue = None) -> int:
    """Chips of one node; of a pool with these ``inputs``, the GPUs that it asks for."""
    host, guests = accelerators.host_of(machine), objects(inputs, "nodeConfig", "guestAccelerators")
    asked = sum(number(guest, "count") or 0 for guest in guests)
    return asked or (host.chips if host and accelerators.accelerator_of(machine) else 0)


def settle(cloud_state: CloudState, target: TargetResource) -> None:
    """Creates the nodes of a new pool, or leaves the pool in state ``ERROR`` with GKE's reason.

    That is what GKE does with a pool whose first nodes cannot be made; it keeps trying
    (hashicorp/terraform-provider-google#10121). A pool that starts with no node is fine in any case.
    """
    record = cloud_state.get(NODE_POOL, target.id)
    if record is None:
        return
    where = pool_zones(target.inputs, cluster_of(cloud_state, target), target.scope["location"])
    nodes = first_nodes(target.inputs) * len(where)
    cause = ""
    if nodes and chips_of(text(target.inputs, "nodeConfig", "machineType"), target.inputs):
        cause = _over_quota(cloud_state, target, nodes) or _no_capacity(cloud_state, target, where)
    record["status"], record["nodes"], record["statusMessage"] = ("ERROR", 0, "") if cause else ("RUNNING", nodes, "")
    if cause:
        # the text: GoogleCloudPlatform/cluster-toolkit#6278, after the 35 minutes that GKE tries
        record["statusMessage"] = (
            f"Google Compute Engine: Not all instances running in IGM after 35m. Expected {nodes}, running 0, "
            f"transitioning {nodes}. Current errors: {cause}"
        )


def _no_capacity(cloud_state: CloudState, target: TargetResource, where: list[str]) -> str:
    for zone in where:
        if zone in cloud_state.faults.listed("stockout"):
            return (
                f"[GCE_STOCKOUT]: Instance 'gke-{target.name}-0' creation failed: The zone "
                f"'projects/{target.project}/zones/{zone}' does not have enough resources available to fulfill the "
                "request."
            )
    return ""


def _spot(inputs: JsonValue) -> bool:
    """Whether nodes draw on the preemptible quota, as spot and flex-start nodes do."""
    return dig(inputs, "nodeConfig", "spot") is True or dig(inputs, "nodeConfig", "flexStart") is True


def quota_name(inputs: JsonObject) -> str:
    """The quota that the pool's nodes draw on: Compute Engine's, not Cloud TPU's; spot has its own."""
    family = accelerators.family_of(text(inputs, "nodeConfig", "machineType"))
    return "" if family is None else family.spot_quota if _spot(inputs) else family.quota


def quota_limit(inputs: JsonObject, faults: Faults) -> float:
    """Limit in chips, per region, of the quota that the pool's nodes draw on."""
    family = accelerators.family_of(text(inputs, "nodeConfig", "machineType"))
    key = "" if family is None else family.spot_quota if _spot(inputs) else family.quota_family
    limit = faults.value("quota", key)
    return limit if isinstance(limit, int | float) else DEFAULT_QUOTA


def _over_quota(cloud_state: CloudState, target: TargetResource, nodes: int) -> str:
    """The message if ``nodes`` more would exceed the quota, else ``""``. Only running nodes count, spot ones
    separately.
    """
    machine = text(target.inputs, "nodeConfig", "machineType")
    region, limit = zones.region_of(target.scope["location"]), quota_limit(target.inputs, cloud_state.faults)
    used = 0
    for ident, record in cloud_state.all(NODE_POOL).items():
        other = text(record, "inputs", "nodeConfig", "machineType")
        same_family = accelerators.family_of(other) is accelerators.family_of(machine)
        alike = same_family and _spot(record["inputs"]) == _spot(target.inputs)
        if ident != target.id and alike and zones.region_of(ident.split("/")[3]) == region:
            used += chips_of(other, record["inputs"]) * (number(record, "nodes") or 0)
    if used + chips_of(machine, target.inputs) * nodes <= limit:
        return ""
    return (
        f"[GCE_QUOTA_EXCEEDED]: Instance 'gke-{target.name}-0' creation failed: "
        f"Quota '{quota_name(target.inputs)}' exceeded. Limit: {float(limit)} in region {region}."
    )
