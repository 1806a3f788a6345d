"""TPU node pools: machine types, topologies, zones, placement, capacity, disks."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import tpu_pools
from llmd_gke.rules.finding import Finding
from policies.rules.kinds import NODE_POOL
from policies.rules.rule import ParameterValues, Rule, Subject, on_inputs

PLAN = "https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus"
XPK = "https://github.com/AI-Hypercomputer/xpk/blob/main/src/xpk/core/nodepool.py"
TOOLKIT = "https://github.com/GoogleCloudPlatform/cluster-toolkit/blob/main/modules/compute/gke-node-pool/main.tf"


def _unlisted(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    for finding in tpu_pools.zone(subject.node):
        if finding.severity == "warning":
            yield Finding("tpu-zone-unlisted", finding.problem, finding.allowed, finding.fix)


MACHINE_TYPE = Rule(
    name="tpu-machine-type",
    title="TPU machine types exist",
    why="v6e is available as ct6e-standard-1t, -4t and -8t only; the larger numbers in older documentation never "
    "existed.",
    sources=(PLAN,),
    kinds=(NODE_POOL,),
    check_object=on_inputs(tpu_pools.machine),
)

TOPOLOGY = Rule(
    name="tpu-topology",
    title="Machine types can form the topology",
    why="v5e and v6e topologies have two dimensions, the others three, and each machine type can form only some of "
    "them: ct6e-standard-8t only 2x4.",
    sources=(PLAN, "https://github.com/GoogleCloudPlatform/cluster-toolkit/blob/main/pkg/config/hardware.go"),
    kinds=(NODE_POOL,),
    check_object=on_inputs(tpu_pools.topology),
)

ZONE = Rule(
    name="tpu-zone",
    title="GKE has the TPU family in the zone",
    why="Zones of TPU VMs or of the price list need not have TPU node pools in GKE: creation fails with "
    "`Unsupported TPU configuration` or retries for about 35 minutes.",
    sources=(PLAN,),
    kinds=(NODE_POOL,),
    check_object=on_inputs(tpu_pools.zone),
    opt_out="Zones newer than the table are covered by `tpu-zone-unlisted`, which is advisory. Otherwise make this "
    "rule advisory.",
)

UNLISTED_ZONE = Rule(
    name="tpu-zone-unlisted",
    title="The zone of TPU nodes is known to have the family",
    why="A zone that is missing from the pack's table may have been added since.",
    sources=(PLAN,),
    kinds=(NODE_POOL,),
    check_object=_unlisted,
    level="advisory",
    severity="low",
)

PLACEMENT = Rule(
    name="tpu-placement",
    title="Single TPU hosts have no placement policy; multi-host slices have COMPACT with their topology",
    why="GKE rejects a topology on single hosts, and hosts without compact placement never form a slice. tpu7x needs a "
    "workload policy instead (`Creation of a managed instance group … with placement policy is not supported`).",
    sources=(XPK, "https://github.com/vllm-project/ci-infra/issues/547"),
    kinds=(NODE_POOL,),
    check_object=on_inputs(tpu_pools.placement),
)

NODE_COUNT = Rule(
    name="tpu-node-count",
    title="A multi-host slice has all of its nodes or none",
    why="GKE scales a multi-host slice atomically: either all of its nodes (chips divided by chips per host), or none.",
    sources=(PLAN,),
    kinds=(NODE_POOL,),
    check_object=on_inputs(tpu_pools.node_counts),
)

CAPACITY = Rule(
    name="tpu-capacity",
    title="The capacity mode is available in the zone and its settings are consistent",
    why="Flex-start and calendar capacity are available in few zones (none of them europe-west4-a for v6e). Spot, "
    "flex-start, queued provisioning and reservations exclude each other, and flex-start nodes cannot be repaired or "
    "counted.",
    sources=(TOOLKIT, "https://cloud.google.com/kubernetes-engine/docs/concepts/dws"),
    kinds=(NODE_POOL,),
    check_object=on_inputs(tpu_pools.capacity),
)

BOOT_DISK = Rule(
    name="tpu-boot-disk",
    title="The boot disk type can be attached to the TPU machine type",
    why="v6e supports only Hyperdisk; with GKE's default, pd-balanced, the pool never gets a node.",
    sources=("https://cloud.google.com/compute/docs/disks/hyperdisks", TOOLKIT),
    kinds=(NODE_POOL,),
    check_object=on_inputs(tpu_pools.boot_disk),
)

UPGRADE = Rule(
    name="tpu-upgrade-strategy",
    title="Multi-host slices use surge upgrades",
    why="GKE does not support blue-green upgrades with compact placement.",
    sources=(TOOLKIT,),
    kinds=(NODE_POOL,),
    check_object=on_inputs(tpu_pools.upgrade),
)

TAINT = Rule(
    name="tpu-taint",
    title="The TPU taint is left to GKE",
    why="GKE adds `google.com/tpu=present:NoSchedule` itself; one set by hand causes a difference in every "
    "preview, and replaces the pool.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/how-to/tpus",),
    kinds=(NODE_POOL,),
    check_object=on_inputs(tpu_pools.taint),
    severity="medium",
)
