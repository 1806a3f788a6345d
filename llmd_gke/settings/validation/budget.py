"""Rules about the stack's budget."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import accelerators, overhead
from llmd_gke.catalog.overhead import Overhead
from llmd_gke.catalog.zones import CLUSTER_FEE_USD_PER_HOUR, chip_price
from llmd_gke.rules import budget as rules
from llmd_gke.rules.budget import Limit, PricedPool
from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.finding_at import SettingFinding, locate

KEY = "llmd-gke:budget"
_PRICED = tuple(f"llmd-gke:{section}" for section in ("cluster", "pools", "models", "network", "gateway", "frontDoor"))


def budget(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that the budget has a limit, and that the stack fits into it at its maximum."""
    given = settings.budget
    if given is None:
        return
    if given.usd_per_hour is None and given.usd_per_month is None:
        finding = Finding("budget", "the budget has no limit", "usdPerHour or usdPerMonth", "usdPerHour: 50")
        yield SettingFinding(KEY, None, finding, (KEY,))
        return
    pools = priced(settings)
    if pools is None:
        return
    limits: tuple[tuple[Limit, float | None, int | None], ...] = (
        ("usdPerHour", given.usd_per_hour, rules.cents(given.usd_per_hour, None)),
        ("usdPerMonth", given.usd_per_month, rules.cents(None, given.usd_per_month)),
    )
    overhead, floor = besides(settings).usd_per_hour, _floor(settings)
    for key, value, limit in limits:
        if limit is not None:
            yield from locate(f"{KEY}.{key}", value, rules.fits(limit, pools, overhead, floor, (key,)), *_PRICED)


def priced(settings: StackSettings) -> list[PricedPool] | None:
    """The pools at their maximum; ``None`` if one has a machine type or topology that other rules reject."""
    pools: list[PricedPool] = []
    for pool in settings.pools:
        slice_ = accelerators.find_slice(pool.machine_type, pool.topology_or_gpus)
        if slice_ is None:
            return None
        zone = pool.zone_in(settings.cluster.zone)
        made = [
            PricedPool(
                name=one.name,
                machine_type=pool.machine_type,
                chips=slice_.machine.chips,
                zone=one.zone_in(zone),
                capacity=one.provisioning,
                nodes=one.max_nodes,
            )
            for one in pool.node_pools
        ]
        pools += rules.together(made, pool.max_nodes) if pool.entries else made
    return pools


def besides(settings: StackSettings, *, idle: bool = False) -> Overhead:
    """Highest price of system nodes, disks, load balancer, NAT and Cloud Armor; with ``idle``, the lowest."""
    system = settings.cluster.system_pool
    count = system.min_nodes if idle else system.max_nodes
    nodes = {pool.name: settings.least_nodes(pool) if idle else pool.max_nodes for pool in settings.pools}
    price = overhead.machine(system.machine_type, settings.cluster.region)
    disks = count * overhead.disk(system.disk_type, system.disk_gb) + sum(
        nodes[pool.name] * overhead.disk(pool.family.boot_disks[0], pool.disk_gb) for pool in settings.pools
    )
    has_nat = settings.cluster.private_nodes and settings.network.existing is None
    # Each port of Google's load balancer has a forwarding rule; a passthrough load balancer has one for all.
    rules_of_gateway = 2 if settings.gateway.redirect_http and settings.gateway.is_googles else 1
    return Overhead(
        system_nodes=None if price is None else round(price * count, 4),
        disks=round(disks, 4),
        load_balancer=rules_of_gateway * overhead.FORWARDING_RULE_USD_PER_HOUR,
        cloud_armor=round(overhead.cloud_armor(settings.access.cloud_armor_rules), 4),
        nat=round(overhead.nat(count + sum(nodes.values())), 4) if has_nat else 0.0,
    )


def _floor(settings: StackSettings) -> float:
    """USD per hour with the fewest replicas and nodes; pools without a public price count as 0."""
    chips = 0.0
    for pool in settings.pools:
        prices = [
            chip_price(pool.family.name, one.zone_in(settings.cluster.zone), one.provisioning, pool.slice.machine)
            for one in pool.node_pools
        ]
        public = [price for price in prices if price is not None]
        chips += min(public, default=0.0) * settings.least_nodes(pool) * pool.slice.machine.chips
    return chips + CLUSTER_FEE_USD_PER_HOUR + besides(settings, idle=True).usd_per_hour
