"""ComputeClasses: the order in which GKE tries the node pools of a program."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import compute_class
from llmd_gke.catalog.zones import Capacity
from llmd_gke.rules import capacity_order, node_pools
from policies.rules.kinds import COMPUTE_CLASS, NODE_POOL
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject, about, on_spec

REFERENCE = "https://docs.cloud.google.com/kubernetes-engine/docs/reference/crds/computeclass"
CONCEPT = "https://docs.cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes"


def _orders_pools(_program: Program, subject: Subject) -> bool:
    """Whether a class lists node pools, or starts E2 nodes: one whose node pools GKE creates is a design of its own."""
    return bool(capacity_order.listed(subject.spec)) or subject.spec.get("whenUnsatisfiable").text() == "ScaleUpAnyway"


def _members(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    there = {name: pool for pool in program.of(NODE_POOL) if (name := pool.node.get("name").text())}
    for subject in program.of(COMPUTE_CLASS):
        for name in capacity_order.listed(subject.spec):
            if name in there:
                yield from about(there[name], capacity_order.member(name, there[name].node, subject.name))


def _reclaimable(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    there = {name: pool for pool in program.of(NODE_POOL) if (name := pool.node.get("name").text())}
    for subject in program.of(COMPUTE_CLASS):
        names = capacity_order.listed(subject.spec)
        if any(name not in there for name in names):
            continue
        kinds: list[Capacity] = [node_pools.capacity_mode(there[name].node) for name in names]
        accepted = capacity_order.accepted(subject.node.get("metadata"))
        fix = f"add a node pool of on-demand or reserved hosts, or the annotation {compute_class.RECLAIMABLE}: accepted"
        yield from about(subject, capacity_order.reclaimable(kinds, accepted=accepted, fix=fix))


CLASS = Rule(
    name="compute-class",
    title="ComputeClasses order the program's own node pools, and start no other nodes",
    why="`ScaleUpAnyway` starts E2 nodes once every priority has failed, on which no TPU pod can run. Node pools that "
    "GKE creates by itself have settings that no rule has seen. With more than ten priorities the first are tried "
    "again before the last.",
    sources=(REFERENCE, CONCEPT, "https://github.com/gke-labs/kube-agents/pull/581"),
    kinds=(COMPUTE_CLASS,),
    check_object=on_spec(capacity_order.compute_class, whole=True),
    relevant=_orders_pools,
    opt_out="For classes of ordinary nodes, disable the rule.",
)

MEMBERS = Rule(
    name="compute-class-members",
    title="Node pools that a ComputeClass lists have its label and its taint",
    why="GKE counts a node pool to a class only with the label `cloud.google.com/compute-class`; without the taint "
    "other pods take its hosts.",
    sources=(CONCEPT,),
    kinds=(COMPUTE_CLASS, NODE_POOL),
    check_program=_members,
)

RECLAIMABLE = Rule(
    name="capacity-reclaimable",
    title="Not every host of a ComputeClass can be reclaimed by Google",
    why="Spot hosts go with 30 seconds' notice, flex-start hosts at the end of their run: a class of nothing else can "
    "lose all replicas of a model at once.",
    sources=(CONCEPT, "https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms"),
    kinds=(COMPUTE_CLASS, NODE_POOL),
    check_program=_reclaimable,
    opt_out="Set `acceptReclaimable: true` on the pool, which writes the annotation "
    f"`{compute_class.RECLAIMABLE}: accepted`.",
)
