"""The budget rule: the cost of a program's nodes is compared with the limit in a label of its cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmd_gke.catalog import accelerators, overhead
from llmd_gke.catalog.zones import PRICES_AS_OF, region_of
from llmd_gke.rules import budget, capacity_order
from llmd_gke.rules.budget import PricedPool
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.node_pools import accelerator, capacity_mode
from policies.rules.kinds import CLUSTER, COMPUTE_CLASS, NODE_POOL
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject, about


def _check(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    for cluster in program.of(CLUSTER):
        limit = cluster.node.get("resourceLabels", budget.LABEL).integer()
        if limit is None:
            continue
        pools: list[PricedPool] = []
        named: dict[str, PricedPool] = {}
        others = 0.0
        for subject in program.of(NODE_POOL):
            pool = _priced(subject.node, subject.resource)
            if pool is not None and pool.chips:
                pools.append(pool)
                named[subject.node.get("name").text() or ""] = pool
            elif pool is not None:
                price = overhead.machine(pool.machine_type, region_of(pool.zone))
                others += (price or 0.0) * pool.nodes
        for subject in program.of(COMPUTE_CLASS):
            pools = _sharing(subject, pools, named)
        yield from about(cluster, budget.fits(limit, pools, others, None))


def _sharing(subject: Subject, pools: list[PricedPool], named: Mapping[str, PricedPool]) -> list[PricedPool]:
    """The pools, of which those of a class have no more hosts together than the class says, or than always run."""
    most = capacity_order.most_hosts(subject.node.get("metadata"))
    members = [named[name] for name in capacity_order.listed(subject.spec) if name in named]
    if most is None:
        return pools
    return [*(pool for pool in pools if pool not in members), *budget.together(members, most)]


def _priced(pool: Input, name: str) -> PricedPool | None:
    machine = pool.get("nodeConfig", "machineType").text()
    zones = [zone for one in pool.get("nodeLocations").each() if (zone := one.text()) is not None]
    zone = zones[0] if zones else pool.get("location").text()
    if machine is None or zone is None:
        return None
    scaled, fixed = pool.get("autoscaling"), pool.get("nodeCount").integer()
    per_zone = scaled.get("maxNodeCount").integer() or fixed
    nodes = scaled.get("totalMaxNodeCount").integer() or (per_zone or 0) * max(1, len(zones))
    kept_per_zone = scaled.get("minNodeCount").integer() or fixed
    kept = scaled.get("totalMinNodeCount").integer() or (kept_per_zone or 0) * max(1, len(zones))
    shape = None if accelerator(pool) is None else accelerators.host_of(machine)
    return PricedPool(
        name=name,
        machine_type=machine,
        chips=0 if shape is None else shape.chips,
        zone=zone,
        capacity=capacity_mode(pool),
        nodes=nodes,
        kept=kept,
    )


HOURLY_PRICE = Rule(
    name="hourly-price",
    title="All nodes that may run at one time cost no more than the budget of the stack",
    why=f"The label {budget.LABEL} of the cluster, which the setting `budget` writes, is compared with the list prices "
    f"of {PRICES_AS_OF} of every node pool at its maximum, with GKE's fee. Nothing else stops spending before the "
    "bill: Google's budgets only alert.",
    sources=("https://cloud.google.com/tpu/pricing", "https://cloud.google.com/billing/docs/how-to/budgets"),
    kinds=(CLUSTER, NODE_POOL, COMPUTE_CLASS),
    check_program=_check,
    opt_out="Remove the setting `budget`.",
)
