"""Where GKE offers accelerators, and their prices. The data is in :mod:`llmd_gke.catalog.accelerators`; its dates here.

A zone with a price, or with TPU *VMs*, does not necessarily have TPUs on GKE: the three lists differ. An unknown zone
is therefore a warning, a zone that is known to lack a family an error (:mod:`llmd_gke.rules`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Literal

from llmd_gke.catalog.accelerators import DEFAULT, FAMILIES, MachineType

Capacity = Literal["on-demand", "spot", "reservation", "flex-start"]


def is_reclaimable(capacity: Capacity) -> bool:
    """Whether Google may take its hosts away: spot ones at any time, those of flex-start at the end of their run."""
    return capacity in ("spot", "flex-start")


ZONES_AS_OF = "2026-08-22"
"""State of https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus in :attr:`Family.zones`."""

GKE_ZONES: Mapping[str, frozenset[str]] = {family.name: family.zones for family in FAMILIES}

FLEX_START_ZONES: Mapping[str, frozenset[str]] = {family.name: family.flex_start_zones for family in FAMILIES}

LONGEST_RUN_HOURS = 168
"""The longest run of a flex-start host: seven days (https://cloud.google.com/kubernetes-engine/docs/concepts/dws)."""

RESERVATION_KEY = "compute.googleapis.com/reservation-name"

PRICES_AS_OF = "2026-08"
"""State of :attr:`Family.prices`, whose sources the families' modules name. Spot prices change monthly."""

PRICING = DEFAULT.pricing

CLUSTER_FEE_USD_PER_HOUR = 0.10
"""GKE's management fee for one cluster (https://cloud.google.com/kubernetes-engine/pricing). It is waived for the first
zonal cluster of a billing account."""

FRESH_DAYS = 60
"""Days after which a table counts as old: whatever shows its data adds a warning."""


def stale(as_of: str, today: date) -> str | None:
    """``"of 2026-08, 83 days old"`` for a table older than :data:`FRESH_DAYS`; ``as_of`` is a month or a day."""
    first = date.fromisoformat(as_of if as_of.count("-") == 2 else f"{as_of}-01")
    # A month's age is counted from its end.
    days = (today - first).days - (0 if as_of.count("-") == 2 else 30)
    return f"of {as_of}, {days} days old" if days > FRESH_DAYS else None


def old_prices(today: date) -> str | None:
    """A warning to print beside prices if :data:`PRICES_AS_OF` is older than :data:`FRESH_DAYS` days; else ``None``."""
    old = stale(PRICES_AS_OF, today)
    return None if old is None else f"The price table is {old}: see {PRICING} for current prices"


def region_of(zone: str) -> str:
    """The region of a zone: its first two parts, since zones such as ``us-south1-ai1b`` have no one-letter suffix."""
    return "-".join(zone.split("-")[:2])


def is_ai_zone(zone: str) -> bool:
    """Whether a zone is an AI zone (``us-south1-ai1b``): only nodes with accelerators, and no control planes."""
    return zone.split("-")[-1].startswith("ai")


def known_zones() -> frozenset[str]:
    """Every zone in which GKE offers at least one family."""
    return frozenset[str]().union(*GKE_ZONES.values())


def chip_price(family: str, zone: str, capacity: Capacity, host: MachineType | None = None) -> float | None:
    """USD per chip-hour, or ``None`` where no public price is known: callers show "unknown" and never guess.

    ``host``: the machine type, of whose own price the chip gets its share where hosts have prices (GPUs).

    A reservation is billed at the on-demand rate unless a commitment says otherwise; flex-start prices are not public.
    """
    match = next((one for one in FAMILIES if one.name == family), None)
    price = None if match is None else match.prices.get(region_of(zone))
    if match is None or price is None or capacity == "flex-start":
        return None
    chip = price.spot if capacity == "spot" else price.on_demand
    vcpu = match.vcpu_prices.get(region_of(zone))
    if vcpu is None or chip is None:
        return chip
    each = vcpu.spot if capacity == "spot" else vcpu.on_demand
    return None if host is None or each is None else round(chip + each * host.vcpus / host.chips, 4)
