"""TPU node pools: machine types, topologies, zones, placement, capacity, disks."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import node_pools
from llmd_gke.rules.finding import Finding
from policies.rules.cluster import on_inputs, pool_yaml
from policies.rules.rule import NODE_POOL, Example, Rule, Settings, Subject

PLAN = "https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus"
XPK = "https://github.com/AI-Hypercomputer/xpk/blob/main/src/xpk/core/nodepool.py"
TOOLKIT = "https://github.com/GoogleCloudPlatform/cluster-toolkit/blob/main/modules/compute/gke-node-pool/main.tf"

GOOD = Example(pool_yaml())
MACHINE = "nodeConfig.machineType"


def multi_host(**changes: str) -> str:
    """A 4x4 slice of four v6e hosts."""
    fields = {
        "placementPolicy": "{type: COMPACT, tpuTopology: 4x4}",
        "autoscaling": "{minNodeCount: 0, maxNodeCount: 4}",
        **changes,
    }
    return pool_yaml(**fields)


def _unlisted(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    for finding in node_pools.zone(subject.node):
        if finding.severity == "warning":
            yield Finding("tpu-zone-unlisted", finding.problem, finding.allowed, finding.fix)


MACHINE_TYPE = Rule(
    name="tpu-machine-type",
    title="TPU machine types exist",
    why="v6e comes as ct6e-standard-1t, -4t and -8t only; larger numbers seen in older material never existed.",
    sources=(PLAN,),
    kinds=(NODE_POOL,),
    check=on_inputs(node_pools.machine),
    bad=Example(pool_yaml(machineType="ct6e-standard-16t"), unknown=MACHINE),
    good=GOOD,
    more_good=(Example(pool_yaml(machineType="e2-standard-4")),),
)

TOPOLOGY = Rule(
    name="tpu-topology",
    title="Machines can form the topology",
    why="v5e and v6e topologies have two dimensions, the others three, and each machine type forms its own: "
    "ct6e-standard-8t only 2x4.",
    sources=(PLAN, "https://github.com/GoogleCloudPlatform/cluster-toolkit/blob/main/pkg/config/hardware.go"),
    kinds=(NODE_POOL,),
    check=on_inputs(node_pools.topology),
    bad=Example(
        multi_host(placementPolicy="{type: COMPACT, tpuTopology: 2x2x1}"), unknown="placementPolicy.tpuTopology"
    ),
    good=Example(multi_host()),
    more_bad=(Example(multi_host(placementPolicy="{type: COMPACT, tpuTopology: 4x5}")),),
)

ZONE = Rule(
    name="tpu-zone",
    title="GKE has the TPU family in the zone",
    why="A zone of TPU VMs or of a price list is not a zone of GKE node pools: creation fails with `Unsupported TPU "
    "configuration` or retries for about 35 minutes.",
    sources=(PLAN,),
    kinds=(NODE_POOL,),
    check=on_inputs(node_pools.zone),
    bad=Example(pool_yaml(nodeLocations="[us-south1-a]", location="us-south1"), unknown="nodeLocations[0]"),
    good=GOOD,
    more_bad=(Example(pool_yaml(nodeLocations="[europe-west4-b]")),),
    more_good=(Example(pool_yaml(nodeLocations="[us-south1-ai1b]", location="us-south1")),),
    opt_out="Zones newer than the table: the rule tpu-zone-unlisted only advises. Else set this rule to advisory.",
)

UNLISTED_ZONE = Rule(
    name="tpu-zone-unlisted",
    title="The zone of TPU nodes is known to have the family",
    why="A zone that is in no list of the pack's date may exist by now.",
    sources=(PLAN,),
    kinds=(NODE_POOL,),
    check=_unlisted,
    level="advisory",
    severity="low",
    bad=Example(pool_yaml(nodeLocations="[africa-south1-a]", location="africa-south1"), unknown="nodeLocations[0]"),
    good=GOOD,
)

PLACEMENT = Rule(
    name="tpu-placement",
    title="Single TPU hosts have no placement policy, multi-host slices COMPACT with their topology",
    why="GKE refuses a topology on single hosts, and hosts without compact placement never form a slice. tpu7x needs a "
    "workload policy instead (`Creation of a managed instance group … with placement policy is not supported`).",
    sources=(XPK, "https://github.com/vllm-project/ci-infra/issues/547"),
    kinds=(NODE_POOL,),
    check=on_inputs(node_pools.placement),
    bad=Example(pool_yaml(placementPolicy="{type: COMPACT, tpuTopology: 2x2}"), unknown="placementPolicy.tpuTopology"),
    good=Example(multi_host()),
    more_bad=(
        Example(pool_yaml(placementPolicy="{type: COMPACT}")),
        Example(multi_host(placementPolicy='{type: "", tpuTopology: 4x4}')),
        Example(multi_host(nodeLocations="[us-east5-a, us-east5-b]")),
        Example(
            multi_host(machineType="tpu7x-standard-4t", placementPolicy="{type: COMPACT, tpuTopology: 2x2x2}"),
        ),
    ),
    more_good=(
        GOOD,
        Example(
            multi_host(
                machineType="tpu7x-standard-4t",
                placementPolicy='{type: "", policyName: workload, tpuTopology: 2x2x2}',
            ),
        ),
    ),
)

NODE_COUNT = Rule(
    name="tpu-node-count",
    title="A multi-host slice has all of its nodes or none",
    why="GKE scales a multi-host slice atomically: chips divided by chips per host nodes, or none.",
    sources=(PLAN,),
    kinds=(NODE_POOL,),
    check=on_inputs(node_pools.node_counts),
    bad=Example(multi_host(autoscaling="{minNodeCount: 0, maxNodeCount: 8}"), unknown="autoscaling.maxNodeCount"),
    good=Example(multi_host()),
    more_bad=(
        Example(multi_host(autoscaling="", nodeCount="2")),
        Example(pool_yaml(autoscaling="{minNodeCount: 3, maxNodeCount: 1}")),
    ),
    more_good=(Example(multi_host(autoscaling="", nodeCount="4")), Example(multi_host(autoscaling="", nodeCount="0"))),
)

CAPACITY = Rule(
    name="tpu-capacity",
    title="The capacity mode exists in the zone and its settings fit",
    why="Flex-start and calendar capacity exist in few zones (none of them europe-west4-a for v6e). Spot, flex-start, "
    "queued provisioning and reservations exclude each other, and flex-start nodes cannot be repaired or counted.",
    sources=(TOOLKIT, "https://cloud.google.com/kubernetes-engine/docs/concepts/dws"),
    kinds=(NODE_POOL,),
    check=on_inputs(node_pools.capacity),
    bad=Example(pool_yaml(flexStart="true", management="{autoRepair: false}"), unknown="nodeConfig.flexStart"),
    good=GOOD,
    more_bad=(
        Example(pool_yaml(spot="true", reservationAffinity="{consumeReservationType: ANY_RESERVATION}")),
        Example(pool_yaml(reservationAffinity="{consumeReservationType: SPECIFIC_RESERVATION}")),
        Example(pool_yaml(spot="true", queuedProvisioning="{enabled: true}")),
        Example(pool_yaml(queuedProvisioning="{enabled: true}", autoscaling="{minNodeCount: 1, maxNodeCount: 4}")),
        Example(pool_yaml(flexStart="true", location="us-east5", nodeLocations="[us-east5-a]")),
        Example(
            pool_yaml(
                flexStart="true",
                location="us-east5",
                nodeLocations="[us-east5-a]",
                management="{autoRepair: false}",
                maxRunDuration="700000s",
            )
        ),
    ),
    more_good=(
        Example(pool_yaml(spot="true")),
        Example(
            pool_yaml(
                flexStart="true",
                location="us-east5",
                nodeLocations="[us-east5-a]",
                management="{autoRepair: false}",
            )
        ),
    ),
)

BOOT_DISK = Rule(
    name="tpu-boot-disk",
    title="Boot disks attach to the TPU machine",
    why="v6e attaches Hyperdisk only; GKE's default pd-balanced does not attach, and the pool never gets a node.",
    sources=("https://cloud.google.com/compute/docs/disks/hyperdisks", TOOLKIT),
    kinds=(NODE_POOL,),
    check=on_inputs(node_pools.boot_disk),
    bad=Example(pool_yaml(diskType=""), unknown="nodeConfig.diskType"),
    good=GOOD,
    more_bad=(
        Example(pool_yaml(diskType="pd-ssd")),
        Example(pool_yaml(diskType="", bootDisk="{diskType: pd-balanced}")),
    ),
    more_good=(
        Example(pool_yaml(diskType="", bootDisk="{diskType: hyperdisk-balanced}")),
        Example(pool_yaml(machineType="e2-standard-4", diskType="")),
    ),
)

UPGRADE = Rule(
    name="tpu-upgrade-strategy",
    title="Multi-host slices are upgraded by surge",
    why="Compact placement is not supported with blue-green upgrades.",
    sources=(TOOLKIT,),
    kinds=(NODE_POOL,),
    check=on_inputs(node_pools.upgrade),
    bad=Example(multi_host(upgradeSettings="{strategy: BLUE_GREEN}"), unknown="upgradeSettings.strategy"),
    good=Example(multi_host()),
)

TAINT = Rule(
    name="tpu-taint",
    title="The TPU taint is GKE's",
    why="GKE adds `google.com/tpu=present:NoSchedule` itself; one set by hand makes a difference in every preview, and "
    "replaces the pool.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/how-to/tpus",),
    kinds=(NODE_POOL,),
    check=on_inputs(node_pools.taint),
    severity="medium",
    bad=Example(
        pool_yaml(taints="[{key: google.com/tpu, value: present, effect: NO_SCHEDULE}]"),
        unknown="nodeConfig.taints[0].key",
    ),
    good=GOOD,
    more_good=(Example(pool_yaml(taints="[{key: team, value: llm, effect: NO_SCHEDULE}]")),),
)

RULES = (
    MACHINE_TYPE,
    TOPOLOGY,
    ZONE,
    UNLISTED_ZONE,
    PLACEMENT,
    NODE_COUNT,
    CAPACITY,
    BOOT_DISK,
    UPGRADE,
    TAINT,
)
