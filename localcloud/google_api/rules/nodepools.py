"""Node pools: GKE's rules for TPU hosts. Quota and stock are in ``capacity.py``.

The facts (families, slices, zones, disks) are the catalogue's; the rules here are GKE's, written apart from the
product's own checks, so that missing checks in the product are detected. GKE's texts for these refusals are public only
in part: where a source is named the text is GKE's, elsewhere it says in our words what the documentation says.
"""

from __future__ import annotations

from localcloud.google_api.core.errors import ApiError, not_found
from localcloud.google_api.rules import serviceaccount
from localcloud.google_api.rules.references import CLUSTER
from localcloud.google_api.rules.resource_type import CloudState, TargetResource, short
from localcloud.product import accelerators, zones
from localcloud.providers.protocol.values import JsonObject, dig, number, objects, text, texts

RESOURCE_POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"
RESERVATION_KEY = "compute.googleapis.com/reservation-name"
_BOUNDS = ("minNodeCount", "maxNodeCount", "totalMinNodeCount", "totalMaxNodeCount")
LONGEST_RUN_SECONDS = 604800
"""Seconds that a flex-start node may run: seven days."""

"""``concepts/plan-tpus`` holds machine types, topologies, zones; ``how-to/tpus`` the rules of single and multi-host."""


def cluster_of(cloud_state: CloudState, target: TargetResource) -> JsonObject | None:
    """The pool's cluster."""
    ident = f"projects/{target.project}/locations/{target.scope['location']}/clusters/{short(target.text('cluster'))}"
    return cloud_state.get(CLUSTER, ident)


def pool_zones(inputs: JsonObject, cluster: JsonObject | None, location: str) -> list[str]:
    """Zones of the nodes: the pool's, else the cluster's, else the location's zone or three zones of its region."""
    own = texts(inputs, "nodeLocations") or texts(cluster, "inputs", "nodeLocations")
    zonal = location.count("-") > 1
    return own or ([location] if zonal else [f"{location}-{letter}" for letter in "abc"])


def first_nodes(inputs: JsonObject) -> int:
    """Nodes per zone of a new pool: the fixed number, else the initial one, else the autoscaler's minimum."""
    counts = (
        number(inputs, "nodeCount"),
        number(inputs, "initialNodeCount"),
        number(inputs, "autoscaling", "minNodeCount"),
    )
    return max(count or 0 for count in counts)


def provisioning_model(inputs: JsonObject) -> str:
    """How Google provides the nodes: ``on-demand``, ``spot``, ``flex-start`` or ``reserved``."""
    config = dig(inputs, "nodeConfig")
    if dig(config, "spot") is True or dig(config, "flexStart") is True:
        return "spot" if dig(config, "spot") is True else "flex-start"
    reserved = text(config, "reservationAffinity", "consumeReservationType") == "SPECIFIC_RESERVATION"
    return "reserved" if reserved else "on-demand"


def _judge_capacity(inputs: JsonObject, family: accelerators.Family, where: list[str]) -> None:
    """Rejects conflicting provisioning modes, and modes that the zones do not offer.

    Source: GoogleCloudPlatform/cluster-toolkit @10470803 modules/compute/gke-node-pool/main.tf, preconditions;
    flex-start zones: https://cloud.google.com/kubernetes-engine/docs/concepts/dws.
    """
    config = dig(inputs, "nodeConfig")
    spot, flex = dig(config, "spot") is True, dig(config, "flexStart") is True
    affinity = text(config, "reservationAffinity", "consumeReservationType")
    if spot and flex:
        raise ApiError(400, "Spot and flex-start cannot be used together.")
    if (spot or flex) and affinity not in ("", "NO_RESERVATION"):
        raise ApiError(
            400, f"A {'spot' if spot else 'flex-start'} node pool cannot consume a reservation ({affinity})."
        )
    if affinity == "SPECIFIC_RESERVATION" and (
        text(config, "reservationAffinity", "key") != RESERVATION_KEY
        or not texts(config, "reservationAffinity", "values")
    ):
        raise ApiError(400, f"SPECIFIC_RESERVATION needs the key {RESERVATION_KEY} and the reservation's name.")
    run = text(config, "maxRunDuration").removesuffix("s")
    if run and (not run.isdigit() or int(run) > LONGEST_RUN_SECONDS):
        raise ApiError(400, f'Max run duration "{run}s" is more than {LONGEST_RUN_SECONDS}s.')
    if not flex:
        return
    for zone in where:
        if zone not in zones.FLEX_START_ZONES.get(family.name, frozenset[str]()):
            raise ApiError(400, f'Flex-start is not available for TPU {family.name} in zone "{zone}".')
    if dig(inputs, "management", "autoRepair") is not False:
        raise ApiError(400, "Auto repair must be off for flex-start node pools.")
    if "nodeCount" in inputs or dig(inputs, "autoscaling") is None:
        raise ApiError(400, "Flex-start node pools need autoscaling and take no fixed number of nodes.")


def create(cloud_state: CloudState, target: TargetResource) -> None:
    """Rejects new pools that GKE would reject."""
    cluster = cluster_of(cloud_state, target)
    if cluster is None:
        where = (
            f"projects/{target.project}/locations/{target.scope['location']}/clusters/{short(target.text('cluster'))}"
        )
        raise ApiError(404, f"Not found: {where}.")
    region = zones.region_of(target.scope["location"])
    where = pool_zones(target.inputs, cluster, target.scope["location"])
    if stray := [zone for zone in where if zones.region_of(zone) != region]:
        raise ApiError(400, f"Location(s) {', '.join(stray)} are not in the region of the cluster, {region}.")
    serviceaccount.require_of_nodes(cloud_state, target)
    _judge_machine(target, where)
    _judge_autoscaling(target.inputs)
    policy = target.text("placementPolicy", "policyName")
    if policy:
        ident = f"projects/{target.project}/regions/{region}/resourcePolicies/{short(policy)}"
        existing = cloud_state.get(RESOURCE_POLICY, ident)
        if existing is None:
            raise not_found(ident)
        wanted = target.text("placementPolicy", "tpuTopology")
        given = text(existing, "inputs", "workloadPolicy", "acceleratorTopology")
        if dig(existing, "inputs", "workloadPolicy") is not None and given != wanted:
            raise ApiError(400, f'The workload policy is for topology "{given}", the node pool for "{wanted}".')


def _judge_autoscaling(inputs: JsonObject) -> None:
    """Rejects bounds that exclude each other. In the API an omitted number is 0.

    Source: the API reference of ``NodePoolAutoscaling``; the texts are ours.
    """
    bounds = {key: number(inputs, "autoscaling", key) or 0 for key in _BOUNDS}
    for low, high in (_BOUNDS[:2], _BOUNDS[2:]):
        if bounds[low] > bounds[high]:
            raise ApiError(400, f"Autoscaling: {low} {bounds[low]} is greater than {high} {bounds[high]}.")
    if any(bounds[key] for key in _BOUNDS[:2]) and any(bounds[key] for key in _BOUNDS[2:]):
        raise ApiError(400, f"Autoscaling: {', '.join(_BOUNDS[:2])} exclude {', '.join(_BOUNDS[2:])}.")


def update(cloud_state: CloudState, target: TargetResource) -> None:
    """Rejects changes of a pool that GKE would reject."""
    _judge_autoscaling(target.inputs)
    _judge_machine(target, pool_zones(target.inputs, cluster_of(cloud_state, target), target.scope["location"]))


def _judge_machine(target: TargetResource, where: list[str]) -> None:
    inputs = target.inputs
    machine = text(inputs, "nodeConfig", "machineType") or "e2-medium"
    guests = objects(inputs, "nodeConfig", "guestAccelerators")
    family = accelerators.family_of(machine)
    if family is not None and family.dimensions == 1:
        _judge_guests(guests, machine, family)
        family = family if guests else None  # an N1 host without GPUs is an ordinary machine
    if family is None and accelerators.accelerator_of(machine) is None:
        if text(inputs, "placementPolicy", "tpuTopology"):
            raise ApiError(400, f'A TPU topology is not supported for machine type "{machine}".')
        return
    for zone in where:
        if family is None or zone not in zones.GKE_ZONES[family.name]:
            # the text of GKE: keras-team/kinetic#305
            raise ApiError(400, f'Invalid machine type "{machine}" in zone "{zone}": GCE_NOT_FOUND')
    if family is None:
        return
    named = text(inputs, "nodeConfig", "bootDisk", "diskType") or text(inputs, "nodeConfig", "diskType")
    disk = named or accelerators.PD_BALANCED  # GKE's default
    if disk not in family.boot_disks:
        # the text of Compute Engine: hashicorp/terraform-provider-google#19890 (there for n4)
        raise ApiError(
            400, f"[{disk}] features and [instance_type: {machine}] are not compatible for creating instance."
        )
    if family.dimensions > 1:
        _judge_slice(inputs, machine, family, where)
    _judge_capacity(inputs, family, where)


def _judge_guests(guests: list[JsonObject], machine: str, family: accelerators.Family) -> None:
    """Rejects GPUs that the machine type does not have (https://cloud.google.com/compute/docs/gpus; texts are ours)."""
    for guest in guests:
        sort, count = text(guest, "type"), number(guest, "count") or 0
        if sort != family.label_value or str(count) not in family.topologies[machine]:
            allowed = " or ".join(family.topologies[machine])
            raise ApiError(400, f'Machine type "{machine}" takes {allowed} {family.label_value}, not {count} {sort}.')


def _judge_slice(inputs: JsonObject, machine: str, family: accelerators.Family, where: list[str]) -> None:
    topology, placement = (text(inputs, "placementPolicy", key) for key in ("tpuTopology", "type"))
    single = next(s for s in family.slices() if s.machine.name == machine and not s.multi_host)
    shape = accelerators.find_slice(machine, topology) if topology else single
    if shape is None:
        allowed = ", ".join(accelerators.topologies(machine))
        raise ApiError(400, f'TPU topology "{topology}" is invalid for machine type "{machine}", valid: {allowed}.')
    if not shape.multi_host:
        if dig(inputs, "placementPolicy") is not None:
            # AI-Hypercomputer/xpk @367c8382 src/xpk/core/nodepool.py: "should not be set for single-host"
            raise ApiError(
                400, f'A placement policy is not supported for single-host TPU nodes ("{machine}", {topology}).'
            )
        return
    if family.workload_policy and placement:
        # the text of GKE: vllm-project/ci-infra#547
        raise ApiError(
            400,
            f"Creation of a managed instance group with {machine} machine type with placement policy is not "
            "supported. Use workload policy instead.",
        )
    if family.workload_policy and not text(inputs, "placementPolicy", "policyName"):
        raise ApiError(400, f'Multi-host TPU topology "{topology}" of {machine} needs a workload policy.')
    if not family.workload_policy and placement != "COMPACT":
        raise ApiError(
            400, f'Multi-host TPU topology "{topology}" needs placement policy type COMPACT, not "{placement}".'
        )
    if len(where) != 1:
        raise ApiError(400, f"A multi-host TPU node pool must be in exactly one zone, not in {', '.join(where)}.")
    counts = {
        number(inputs, "nodeCount"),
        number(inputs, "initialNodeCount"),
        number(inputs, "autoscaling", "maxNodeCount"),
    }
    if wrong := counts - {None, 0, shape.hosts}:
        raise ApiError(
            400, f"A {topology} slice of {machine} has {shape.hosts} nodes or none, not {max(n or 0 for n in wrong)}."
        )
    if text(inputs, "upgradeSettings", "strategy") == "BLUE_GREEN":
        # GoogleCloudPlatform/cluster-toolkit @10470803 modules/compute/gke-node-pool/main.tf, preconditions
        raise ApiError(400, "Compact placement is not supported with blue-green upgrades.")
