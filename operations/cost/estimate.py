"""Chips, nodes and price of a stack, from its settings and the dated catalogue.

An unpublished price is ``None``, with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from llmd_gke.catalog import models as catalogue
from llmd_gke.catalog.overhead import (
    CLOUD_ARMOR_USD_PER_MILLION_REQUESTS,
    HOURS_PER_MONTH,
    Overhead,
    cloud_armor,
)
from llmd_gke.catalog.zones import CLUSTER_FEE_USD_PER_HOUR, Capacity, chip_price
from llmd_gke.rules import schedule
from llmd_gke.rules.budget import cents
from llmd_gke.settings import ModelSettings, PoolSettings, StackSettings
from llmd_gke.settings.sections.cluster import SystemPoolSettings
from llmd_gke.settings.validation.budget import besides
from llmd_gke.wording import counted
from operations.cost import monitoring
from operations.cost.monitoring import LogPrice, MonitoringPrice

State = Literal["idle", "running", "full"]
STATES: dict[State, str] = {
    "idle": "no replica runs: every pool at minNodes",
    "running": "all replicas run",
    "full": "every pool at maxNodes, as during an update or with more replicas",
}

NO_PRICE = "no public price"
AS_RESERVED = "as reserved"
"""Reason for an open price: a reservation is billed while it exists, whether or not its hosts run; its size is not in
the settings."""

NOT_INCLUDED = ("system nodes", "disks", "traffic and load balancer", "monitoring", "logs", "buckets")


@dataclass(frozen=True)
class Amount:
    """Nodes, chips and USD per hour. ``open``: why there is no price."""

    nodes: int
    chips: int
    usd_per_hour: float | None
    open: str = ""

    @property
    def usd_per_month(self) -> float | None:
        """USD per month of 730 hours; ``None`` if there is no price."""
        return None if self.usd_per_hour is None else self.usd_per_hour * HOURS_PER_MONTH


@dataclass(frozen=True)
class PoolPrice:
    """One TPU pool. ``usd_per_chip_hour`` is ``None`` where no public price is known."""

    name: str
    machine_type: str
    topology: str
    capacity: Capacity
    zone: str
    usd_per_chip_hour: float | None
    amounts: dict[State, Amount]


@dataclass(frozen=True)
class ModelFit:
    """One model: the size of its weights (``None`` if unknown), and the HBM of the slice it runs on, GB."""

    name: str
    weights_gb: float | None
    is_exact: bool
    hbm_gb: int

    def __str__(self) -> str:
        """A sentence that compares the size of the weights with the HBM."""
        if self.weights_gb is None:
            return (
                f"{self.name}: the size of its weights is unknown; whether they fit in {self.hbm_gb} GB was not checked"
            )
        about = "" if self.is_exact else ", by its name"
        share = self.weights_gb / self.hbm_gb
        return f"{self.name}: weights take {share:.0%} of HBM ({self.weights_gb:.0f} of {self.hbm_gb} GB{about})"


@dataclass(frozen=True)
class Besides:
    """System nodes, disks, load balancer and NAT, with the fewest replicas and at maxNodes; and the stack's limit."""

    least: Overhead
    most: Overhead
    limit_usd_per_hour: float | None

    def __str__(self) -> str:
        """The range in a sentence, as ``llmd-gke cost`` shows it."""
        nodes = "" if self.most.system_nodes is not None else " (system nodes have no price here)"
        armor = ", Cloud Armor" if self.most.cloud_armor else ""
        low, high = self.least.usd_per_hour, self.most.usd_per_hour
        return (
            f"In addition, estimated: {low:,.2f} to {high:,.2f} USD an hour for system nodes, disks, load balancer"
            f"{armor} and NAT{nodes}."
        )

    @property
    def limit(self) -> str | None:
        """The stack's budget as a sentence; ``None`` without one."""
        if self.limit_usd_per_hour is None:
            return None
        return f"Budget: at most {self.limit_usd_per_hour:,.2f} USD an hour, everything included."


@dataclass(frozen=True)
class CloudArmorPrice:
    """The security policy in front of the front door: its rules, and USD per month for it and them."""

    rules: int
    usd_per_month: float
    usd_per_million_requests: float = CLOUD_ARMOR_USD_PER_MILLION_REQUESTS

    def __str__(self) -> str:
        """The price in a sentence."""
        return (
            f"Cloud Armor: {self.usd_per_month:,.2f} USD a month for a policy with {counted(self.rules, 'rule')}, "
            f"included above; beside it {self.usd_per_million_requests:.2f} USD per million requests."
        )


@dataclass(frozen=True)
class StackPrice:
    """A stack: its pools, and all of them with GKE's fee."""

    stack: str
    pools: tuple[PoolPrice, ...]
    system_pool: SystemPoolSettings
    """The pool of ordinary nodes; the catalogue has no price for them."""
    totals: dict[State, Amount]
    monitoring: MonitoringPrice
    logs: tuple[LogPrice, ...]
    besides: Besides
    armor: CloudArmorPrice | None = None
    models: tuple[ModelFit, ...] = ()


def estimate(stack: str, settings: StackSettings) -> StackPrice:
    """The price of a stack in each of :data:`STATES`."""
    pools = tuple(_pool(settings, pool, one) for pool in settings.pools for one in pool.node_pools)
    totals: dict[State, Amount] = {
        state: _total(_counted(settings, pool, pools, state) for pool in settings.pools) for state in STATES
    }
    rules = settings.access.cloud_armor_rules
    return StackPrice(
        stack=stack,
        pools=pools,
        system_pool=settings.cluster.system_pool,
        totals=totals,
        monitoring=monitoring.estimate(settings),
        logs=monitoring.logs(settings),
        besides=_besides(settings),
        armor=CloudArmorPrice(rules, round(cloud_armor(rules) * HOURS_PER_MONTH, 2)) if rules else None,
        models=tuple(_fit(settings, model) for model in settings.models),
    )


def _besides(settings: StackSettings) -> Besides:
    budget = settings.budget
    limit = None if budget is None else cents(budget.usd_per_hour, budget.usd_per_month)
    return Besides(besides(settings, idle=True), besides(settings), None if limit is None else limit / 100)


def _fit(settings: StackSettings, model: ModelSettings) -> ModelFit:
    pool, size = settings.pool(model.pool), catalogue.size(model.uri)
    hbm = pool.slice.chips * pool.family.hbm_gb
    return ModelFit(model.name, size.gb if size else None, size is not None and size.is_exact, hbm)


def _pool(settings: StackSettings, pool: PoolSettings, one: PoolSettings) -> PoolPrice:
    """A node pool of a pool; of a list, as if all hosts came from this entry."""
    zone = one.zone_in(settings.cluster.zone)
    price = chip_price(one.family.name, zone, one.provisioning, one.slice.machine)
    running = min(settings.busy_nodes(pool), one.max_nodes)
    nodes: dict[State, int] = {"idle": one.min_nodes, "running": running, "full": one.max_nodes}
    amounts: dict[State, Amount] = {state: _amount(one, count, price) for state, count in nodes.items()}
    return PoolPrice(
        name=one.name,
        machine_type=one.machine_type,
        topology=one.topology_or_gpus,
        capacity=one.provisioning,
        zone=zone,
        usd_per_chip_hour=price,
        amounts=amounts,
    )


def _counted(settings: StackSettings, pool: PoolSettings, prices: Iterable[PoolPrice], state: State) -> Amount:
    """What a pool adds to the totals: of a list, the most expensive hosts that may run at once."""
    if not pool.entries:
        return next(one.amounts[state] for one in prices if one.name == pool.name)
    wanted = {"idle": pool.kept_nodes, "running": settings.busy_nodes(pool), "full": pool.max_nodes}
    cost = pool.cost(pool.zone_in(settings.cluster.zone), wanted[state])
    return Amount(wanted[state], cost.chips, cost.usd_per_hour, "" if cost.usd_per_hour is not None else NO_PRICE)


def by_preference(settings: StackSettings) -> list[str]:
    """For each list of capacities, a line with the price of one host, or its range; none for other stacks."""
    lines: list[str] = []
    for pool in (one for one in settings.pools if one.entries):
        zone = settings.cluster.zone
        costs = {one.name: one.cost(one.zone_in(zone), pool.slice.hosts).usd_per_hour for one in pool.node_pools}
        usd = {name: price for name, price in costs.items() if price is not None}
        if not usd:
            lines.append(f"{pool.name}: no entry of its list has a public price.")
            continue
        least, most = min(usd, key=lambda name: usd[name]), max(usd, key=lambda name: usd[name])
        open_ = [name for name in costs if name not in usd]
        rest = f"; {', '.join(open_)}: {NO_PRICE}" if open_ else ""
        low, high = f"{usd[least]:,.2f}", f"{usd[most]:,.2f}"
        span = low if low == high else f"{low} ({least}) to {high} ({most})"
        lines.append(
            f"{pool.name}: a host costs {span} USD an hour{rest}"
            ". The totals count the most expensive hosts that may run at once."
        )
    return lines


def _amount(pool: PoolSettings, nodes: int, price: float | None) -> Amount:
    chips = nodes * pool.slice.machine.chips
    if pool.provisioning == "reservation" and nodes < pool.max_nodes:
        return Amount(nodes, chips, None, AS_RESERVED)
    if not nodes:
        return Amount(0, 0, 0.0)
    return Amount(nodes, chips, None, NO_PRICE) if price is None else Amount(nodes, chips, round(chips * price, 4))


def _total(amounts: Iterable[Amount]) -> Amount:
    """The sum, with GKE's fee. It has no price if one part has none: an incomplete sum could be mistaken for the
    total.
    """
    parts = list(amounts)
    prices = [part.usd_per_hour for part in parts if part.usd_per_hour is not None]
    nodes, chips = sum(part.nodes for part in parts), sum(part.chips for part in parts)
    if len(prices) < len(parts):
        return Amount(nodes, chips, None, next(part.open for part in parts if part.usd_per_hour is None))
    return Amount(nodes, chips, round(sum(prices) + CLUSTER_FEE_USD_PER_HOUR, 4))


def quotas(settings: StackSettings) -> Counter[tuple[str, tuple[str, str] | None]]:
    """Chips by quota of Compute Engine and its dimension with value, if every pool is at its maximum."""
    wanted: Counter[tuple[str, tuple[str, str] | None]] = Counter()
    for pool in settings.pools:
        for name, nodes in pool.quotas.items():
            quota = name.split()[0]
            wanted[quota, pool.accelerator.quota_dimension(pool.family, quota)] += nodes * pool.slice.machine.chips
    return wanted


def autoscaled(settings: StackSettings) -> list[str]:
    """The range of the price of a stack with autoscaled models, as a line; none for other stacks."""
    if not settings.autoscaled:
        return []
    low, high = settings.least_totals, settings.totals
    names = ", ".join(f"{model.name} ({_replicas(model)}{_hours(model)})" for model in settings.autoscaled)
    if low.usd_per_hour is None or high.usd_per_hour is None:
        return [f"Autoscaled: {names}; {NO_PRICE}"]
    return [f"Autoscaled: {names}; {low.usd_per_hour:,.2f} to {high.usd_per_hour:,.2f} USD an hour with GKE's fee."]


def _replicas(model: ModelSettings) -> str:
    least, most = model.least_replicas, model.most_replicas
    return counted(most, "replica") if least == most else f"{least} to {most} replicas"


def _hours(model: ModelSettings) -> str:
    if model.schedule is None:
        return ""
    return f", {len(schedule.minutes_of_week(model.schedule.hours)) / 60:g} of {schedule.HOURS_OF_WEEK} hours a week"


def usd_per_million_tokens(usd_per_hour: float, tokens_per_second: float) -> float:
    """Price of a million output tokens at a throughput of the whole stack, in tokens per second (above 0)."""
    return usd_per_hour / (tokens_per_second * 3600) * 1_000_000
