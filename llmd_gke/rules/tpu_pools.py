"""Rules about node pools of TPU hosts, as pulumi-gcp describes them (``container.NodePool``).

Sources: GoogleCloudPlatform/cluster-toolkit ``modules/compute/gke-node-pool/main.tf`` @10470803 (preconditions of
capacity modes); AI-Hypercomputer/xpk ``src/xpk/core/nodepool.py`` @367c8382 (placement).
"""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import accelerators, zones
from llmd_gke.catalog.accelerators import TPU
from llmd_gke.rules import pool_capacity, slices
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.node_pools import accelerator, capacity_mode, pool_zones

DEFAULT_BOOT_DISK = accelerators.PD_BALANCED
NODE_COUNTS = ("nodeCount", "initialNodeCount")
LONGEST_RUN_SECONDS = zones.LONGEST_RUN_HOURS * 3600


def _parts(pool: Input) -> tuple[str, str | None, str | None]:
    """Machine type (empty if unknown), topology and placement type of a pool."""
    placement = pool.get("placementPolicy")
    return (
        pool.get("nodeConfig", "machineType").text() or "",
        placement.get("tpuTopology").text(),
        placement.get("type").text(),
    )


def machine(pool: Input) -> Iterator[Finding]:
    """The machine type is a TPU host that GKE offers."""
    if accelerator(pool) is TPU:
        yield from slices.machine_type(_parts(pool)[0])


def topology(pool: Input) -> Iterator[Finding]:
    """The machines can form the topology."""
    name, topology, _ = _parts(pool)
    if accelerator(pool) is TPU and topology is not None:
        yield from slices.topology(name, topology)


def zone(pool: Input) -> Iterator[Finding]:
    """GKE offers the family in every zone of the pool; a zone that is not in the catalogue is a warning."""
    if accelerator(pool) is TPU:
        for name in pool_zones(pool):
            yield from slices.zone(_parts(pool)[0], name)


def placement(pool: Input) -> Iterator[Finding]:
    """Single hosts have no placement policy; a multi-host slice has COMPACT, its topology and one zone."""
    if accelerator(pool) is not TPU:
        return
    name, topology, kind = _parts(pool)
    family = accelerators.family_of(name)
    if topology is None:
        if kind == "COMPACT" and pool.get("placementPolicy", "tpuTopology").value is None:
            yield _placement(
                "COMPACT without tpuTopology: a single-host pool must have no placement policy, a multi-host one its "
                "topology",
                "no placementPolicy, or COMPACT with tpuTopology",
            )
        return
    slice_ = accelerators.find_slice(name, topology)
    if slice_ is None or family is None:
        return
    if not slice_.multi_host:
        yield from slices.placement(name, topology, kind or "COMPACT")
        return
    yield from slices.placement(name, topology, kind)
    policy = pool.get("placementPolicy", "policyName")
    if family.workload_policy and (kind or policy.value is None):
        yield _placement(
            f"{name} takes no COMPACT placement ('Use workload policy instead')",
            "policyName of a ResourcePolicy with workloadPolicy, and type ''",
        )
    if len(pool_zones(pool)) > 1:
        yield _placement("a multi-host slice must be in one zone", "one entry in nodeLocations")


def _placement(problem: str, allowed: str) -> Finding:
    return Finding("tpu-placement", problem, allowed=allowed, fix=f"use {allowed}")


def upgrade(pool: Input) -> Iterator[Finding]:
    """Multi-host slices use surge upgrades: compact placement does not support blue-green ones."""
    name, topology, _ = _parts(pool)
    slice_ = accelerators.find_slice(name, topology) if topology else None
    if slice_ and slice_.multi_host and pool.get("upgradeSettings", "strategy").text() == "BLUE_GREEN":
        problem = f"BLUE_GREEN upgrades of a multi-host {topology} slice: GKE rejects them with compact placement"
        yield Finding("tpu-upgrade-strategy", problem, allowed="SURGE", fix="set strategy: SURGE")


def node_counts(pool: Input) -> Iterator[Finding]:
    """A pool of a multi-host slice has all of its nodes or none."""
    name, topology, _ = _parts(pool)
    if accelerator(pool) is not TPU:
        return
    scaling = pool.get("autoscaling")
    pairs = [
        (scaling.get("minNodeCount"), scaling.get("maxNodeCount")),
        (scaling.get("totalMinNodeCount"), scaling.get("totalMaxNodeCount")),
    ]
    fixed = next((count for key in NODE_COUNTS if (count := pool.get(key)).integer() is not None), None)
    if fixed is not None:
        pairs.append((fixed, fixed))
    for least, most in pairs:
        maximum = most.integer()
        if maximum is not None and not (maximum == 0 and fixed is not None and fixed.integer() == 0):
            limits = (least.integer() or 0, maximum)
            yield from slices.node_counts(name, topology or "", limits, (least.path, most.path))


def capacity(pool: Input) -> Iterator[Finding]:
    """The capacity mode exists in the zone, and its settings do not conflict."""
    if accelerator(pool) is not TPU:
        return
    mode = capacity_mode(pool)
    for name in pool_zones(pool):
        yield from pool_capacity.capacity(mode, _parts(pool)[0], name)
    config = pool.get("nodeConfig")
    affinity = config.get("reservationAffinity")
    reserved = affinity.get("consumeReservationType").text()
    queued = pool.get("queuedProvisioning", "enabled").boolean() is True
    spot = config.get("spot").boolean() is True
    if spot and config.get("flexStart").boolean():
        yield _capacity("spot and flexStart exclude each other", "one of them")
    if (spot or mode == "flex-start" or queued) and reserved not in (None, "NO_RESERVATION"):
        yield _capacity(
            f"{mode} capacity cannot be combined with {reserved}: a reservation holds on-demand capacity",
            "NO_RESERVATION",
        )
    if reserved == "SPECIFIC_RESERVATION" and not list(affinity.get("values").each()) and not pool.notes.unknown:
        yield _capacity(
            "SPECIFIC_RESERVATION without the name of a reservation",
            f"key {zones.RESERVATION_KEY} and values",
        )
    if queued and spot:
        yield _capacity("queued provisioning and spot exclude each other", "one of them")
    if queued and (pool.get("autoscaling", "minNodeCount").integer() or 0) > 0:
        yield _capacity("queued provisioning must start with zero nodes", "autoscaling.minNodeCount: 0")
    if mode == "flex-start":
        yield from _flex_start(pool)


def _flex_start(pool: Input) -> Iterator[Finding]:
    if pool.get("management", "autoRepair").boolean() is not False and not pool.notes.unknown:
        yield _capacity("flex-start nodes cannot be repaired", "management.autoRepair: false")
    fixed = pool.get("nodeCount").value is not None
    yield from pool_capacity.flex_start_size("flex-start", fixed=fixed, allowed="autoscaling", fix="use autoscaling")
    if pool.get("autoscaling", "totalMaxNodeCount").value is not None:
        yield _capacity("flex-start TPU pools need limits per zone", "minNodeCount and maxNodeCount")
    longest = (pool.get("nodeConfig", "maxRunDuration").text() or "").removesuffix("s")
    if longest.isdigit() and int(longest) > LONGEST_RUN_SECONDS:
        yield _capacity(f"maxRunDuration {longest}s is more than seven days", f"at most {LONGEST_RUN_SECONDS}s")


def _capacity(problem: str, allowed: str) -> Finding:
    return Finding("tpu-capacity", problem, allowed=allowed, fix=f"use {allowed}")


def boot_disk(pool: Input) -> Iterator[Finding]:
    """The type of the boot disk can be attached to the machine. GKE's default is pd-balanced."""
    if accelerator(pool) is not TPU:
        return
    config = pool.get("nodeConfig")
    for node in (config.get("diskType"), config.get("bootDisk", "diskType")):
        if node.value is not None:
            text = node.text()
            if text is not None:
                yield from slices.boot_disk(_parts(pool)[0], text)
            return
    yield from slices.boot_disk(_parts(pool)[0], DEFAULT_BOOT_DISK)


def taint(pool: Input) -> Iterator[Finding]:
    """The pool does not set the TPU taint, which GKE adds."""
    for entry in pool.get("nodeConfig", "taints").each():
        if entry.get("key").text() == TPU.resource:
            yield Finding(
                "tpu-taint",
                f"{entry.path}: GKE adds the taint {TPU.resource}=present:NoSchedule to TPU nodes itself",
                fix="leave the taint out",
            )
