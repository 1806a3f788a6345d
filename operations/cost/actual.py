"""What a stack's nodes have cost: their hours by pool, times list prices.

On Google Cloud the hours come from GKE's system metrics in Cloud Monitoring, which keep nodes that are gone; on the
laptop cloud from the nodes that exist now.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from llmd_common.kubernetes.fields import Object, label
from llmd_gke.catalog.accelerators import POOL_LABEL
from llmd_gke.catalog.metrics import NODE, POOL_OF_NODE, Google
from llmd_gke.catalog.zones import CLUSTER_FEE_USD_PER_HOUR
from llmd_gke.manifests import promql
from llmd_gke.settings import StackSettings
from operations import outputs
from operations.cost.estimate import AS_RESERVED, NO_PRICE, estimate
from operations.exits import NotUp
from operations.options import Cloud
from operations.status.objects import moment
from operations.target import Target

if TYPE_CHECKING:  # the table of prices must not wait for the import of an HTTP client
    from operations.prometheus.client import Prometheus

MOST_POINTS = 1500
SHORTEST_STEP_SECONDS = 60
"""Interval at which GKE samples its system metrics."""
OTHERS = "other nodes"

NOTES = (
    "Node hours times list price, not a bill. Excluded: discounts, disks, load balancer, traffic, monitoring, logs.",
    "A node counts from its first sample on; Google bills it from its creation, some minutes earlier.",
    "GKE's fee is counted for the whole period. A reservation is billed while it exists, whether nodes run or not.",
)
NOTES_LAPTOP = (
    "What such nodes would have cost on Google Cloud: the laptop cloud costs nothing.",
    "Only nodes that exist now are counted, from their creation on; no metric still contains deleted nodes.",
)


@dataclass(frozen=True)
class PoolHours:
    """Node hours of a node pool in a period, and USD at list price; without a price ``open`` says why."""

    name: str
    node_hours: float
    chips: int
    usd: float | None
    open: str = ""


def query(settings: StackSettings) -> str:
    """The number of nodes by pool, for Cloud Monitoring."""
    return f"count by ({POOL_OF_NODE}) ({Google.NODE_CORES}{promql.resource(settings, NODE)})"


async def hours_by_pool(
    prometheus: Prometheus, settings: StackSettings, now: float, seconds: float
) -> dict[str, float]:
    """Node hours by pool for the ``seconds`` before ``now``. Raises ``NotAnswered``."""
    step = max(SHORTEST_STEP_SECONDS, seconds / MOST_POINTS)
    # A point stands for the step before it.
    hours: defaultdict[str, float] = defaultdict(float)
    for series in await prometheus.over(query(settings), now - seconds + step, now, step):
        hours[series.labels.get(POOL_OF_NODE, "")] += sum(value for _, value in series.points) * step / 3600
    return hours


def hours_of_nodes(nodes: Iterable[Object], now: datetime, seconds: float) -> dict[str, float]:
    """Node hours by pool of the nodes that exist, at most ``seconds`` before ``now`` each."""
    hours: defaultdict[str, float] = defaultdict(float)
    for node in nodes:
        created = moment(node, "metadata", "creationTimestamp")
        if created is not None:
            hours[label(node, POOL_LABEL)] += min(seconds, max(0.0, (now - created).total_seconds())) / 3600
    return hours


def priced(settings: StackSettings, hours: Mapping[str, float]) -> list[PoolHours]:
    """The node pools of the settings with their price, then all other nodes together, which have none here."""
    rows: list[PoolHours] = []
    prices = {pool.name: pool.usd_per_chip_hour for pool in estimate("", settings).pools}
    for pool in settings.node_pools:
        chips, price, spent = pool.slice.machine.chips, prices[pool.name], hours.get(pool.name, 0.0)
        if pool.provisioning == "reservation":
            rows.append(PoolHours(pool.name, spent, chips, None, AS_RESERVED))
        elif price is None and spent:
            rows.append(PoolHours(pool.name, spent, chips, None, NO_PRICE))
        else:
            rows.append(PoolHours(pool.name, spent, chips, spent * chips * (price or 0.0)))
    others = sum(value for name, value in hours.items() if name not in prices)
    return [*rows, PoolHours(OTHERS, others, 0, None, "not priced")]


def fee(seconds: float) -> float:
    """GKE's fee for a period in USD."""
    return CLUSTER_FEE_USD_PER_HOUR * seconds / 3600


def total(rows: Sequence[PoolHours], seconds: float) -> float | None:
    """Chips of all pools with GKE's fee in USD; ``None`` where a pool has no price."""
    prices = [row.usd for row in rows if row.name != OTHERS]
    public = [price for price in prices if price is not None]
    return sum(public) + fee(seconds) if len(public) == len(prices) else None


def measure(target: Target, seconds: float) -> list[PoolHours]:
    """The rows for the ``seconds`` until now.

    Raises ``NotUp`` in the rehearsal, which has no nodes, and ``Unreachable`` where metrics or cluster do not answer.
    """
    settings = target.settings
    if target.cloud is Cloud.REHEARSAL:
        raise NotUp(
            "The rehearsal has no nodes, so nothing has run.\n"
            f"Fix: make up STACK={target.stack} CLOUD=laptop, or --cloud google"
        )
    if target.cloud is Cloud.LAPTOP:
        return priced(settings, _of_laptop(target, seconds))
    from operations.prometheus.access import answer

    return priced(settings, answer(target, lambda one: hours_by_pool(one, settings, time.time(), seconds)))


def _of_laptop(target: Target, seconds: float) -> dict[str, float]:
    import asyncio

    from operations.status.gather import ClusterApi

    async def look() -> dict[str, float]:
        cluster = await ClusterApi.connect(outputs.kubeconfig(target), target.settings.namespaces)
        snapshot = await cluster.snapshot()
        return hours_of_nodes(snapshot.nodes, snapshot.now, seconds)

    return asyncio.run(look())
