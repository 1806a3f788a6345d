"""Rules about the cost of a stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal, TypeAlias

from llmd_gke.catalog.accelerators import family_of, host_of
from llmd_gke.catalog.cost import dearest_first
from llmd_gke.catalog.overhead import HOURS_PER_MONTH
from llmd_gke.catalog.zones import CLUSTER_FEE_USD_PER_HOUR, Capacity, chip_price
from llmd_gke.rules.finding import Finding

Limit: TypeAlias = Literal["usdPerHour", "usdPerMonth"]
"""A setting of the budget that is a limit."""
LABEL = "llmd-gke-max-cents-per-hour"
"""Label of the cluster with the stack's budget in cents per hour: labels of Google Cloud have no decimal point."""


@dataclass(frozen=True)
class PricedPool:
    """A pool of TPU hosts at its maximum: ``nodes`` hosts of ``chips`` chips each, of which ``kept`` always run."""

    name: str
    machine_type: str
    chips: int
    zone: str
    capacity: Capacity
    nodes: int
    kept: int = 0

    @property
    def usd_per_hour(self) -> float | None:
        """List price of all its hosts in USD per hour; ``None`` if no price is public."""
        family = family_of(self.machine_type)
        price = (
            None if family is None else chip_price(family.name, self.zone, self.capacity, host_of(self.machine_type))
        )
        return 0.0 if not self.nodes else None if price is None else price * self.chips * self.nodes


def together(pools: Sequence[PricedPool], hosts: int) -> list[PricedPool]:
    """Node pools of which no more than ``hosts`` run together, each with as many as make the sum dearest.

    Where more always run, these count. Those without a public price stay as they are, so that a finding names them.
    """
    prices = [replace(pool, nodes=1).usd_per_hour for pool in pools]
    most = max(hosts, sum(pool.kept for pool in pools))
    counts = dearest_first(prices, [pool.nodes for pool in pools], most)
    return [
        pool if price is None else replace(pool, nodes=count)
        for pool, price, count in zip(pools, prices, counts, strict=True)
    ]


def cents(usd_per_hour: float | None, usd_per_month: float | None) -> int | None:
    """The smaller of both limits in cents per hour; ``None`` without a limit. A month has 730 hours."""
    limits = [usd_per_hour, None if usd_per_month is None else usd_per_month / HOURS_PER_MONTH]
    given = [limit for limit in limits if limit is not None]
    return round(min(given) * 100) if given else None


def _cents_up(usd: float) -> int:
    """USD in cents, rounded up, so that a limit of this amount is enough."""
    return ceil(round(usd * 100, 6))


def _amount(key: Limit, cents_per_hour: int) -> str:
    """The key with the least value that is a limit of at least so many cents per hour."""
    if key == "usdPerMonth":
        return f"{key}: {ceil(cents_per_hour * HOURS_PER_MONTH / 100)}"
    return f"{key}: {cents_per_hour / 100:.2f}"


def fits(
    limit_cents: int,
    pools: Sequence[PricedPool],
    overhead: float,
    floor: float | None,
    keys: Sequence[Limit] = ("usdPerHour", "usdPerMonth"),
) -> Iterator[Finding]:
    """All hosts that may run at one time cost no more than the limit, by list prices.

    ``overhead``: USD per hour of everything besides chips and GKE's fee. ``floor``: USD per hour with the fewest
    replicas only; a limit below that can never be kept (``None``: not checked). ``keys``: the settings of which one is
    the limit, for the fix.
    """
    unpriced = [pool.name for pool in pools if pool.usd_per_hour is None]
    most = sum(pool.usd_per_hour or 0.0 for pool in pools) + CLUSTER_FEE_USD_PER_HOUR + overhead
    limit, least_cents = limit_cents / 100, _cents_up(floor or 0.0)
    needed_cents = max(_cents_up(most), least_cents)
    enough = " or ".join(_amount(key, needed_cents) for key in keys)
    dearest = max(pools, key=lambda pool: pool.usd_per_hour or 0.0).name if pools else "the stack"
    if least_cents > limit_cents:
        yield Finding(
            "budget",
            f"the budget of {limit:,.2f} USD an hour is below {least_cents / 100:,.2f}, what the stack costs with its "
            "fewest replicas",
            allowed=f"{enough} or more, the price with every pool at its maximum",
            fix=f"raise the budget to {enough}, or lower maxNodes of {dearest} and the replicas of its models",
        )
    elif needed_cents > limit_cents:
        yield Finding(
            "budget",
            f"with every pool at its maximum the stack costs {needed_cents / 100:,.2f} USD an hour, more than the "
            f"budget of {limit:,.2f}",
            allowed=f"at most {limit:,.2f} USD an hour",
            fix=f"lower maxNodes of {dearest} (and maxReplicas of its models), or raise the budget to {enough}",
        )
    elif unpriced:
        yield Finding(
            "budget",
            f"{', '.join(unpriced)} {'has' if len(unpriced) == 1 else 'have'} no public price: the budget was checked "
            "without it",
            fix="ask Google for the price, and compare it yourself",
            severity="warning",
        )
