"""Where TPUs can be had on GKE, and what they cost, as dated data.

A price or a TPU *VM* zone is not GKE support: the three lists differ, and mixing them cost the first team hours.
Unknown zones are therefore a warning for the user, a zone known to lack a family is an error (:mod:`llmd_gke.rules`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

Capacity = Literal["on-demand", "spot", "reservation", "flex-start"]

ZONES_AS_OF = "2026-08-22"
"""State of https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus used below."""

GKE_ZONES: Mapping[str, frozenset[str]] = {
    "v4": frozenset({"us-central2-b"}),
    "v5e": frozenset({"europe-west4-b", "us-central1-a", "us-south1-a", "us-west1-c", "us-west4-a"}),
    "v5p": frozenset({"europe-west4-b", "us-central1-a", "us-east5-a"}),
    "v6e": frozenset(
        {
            "asia-northeast1-b",
            "europe-west4-a",
            "southamerica-west1-a",
            "us-central1-b",
            "us-east1-d",
            "us-east5-a",
            "us-east5-b",
            "us-south1-ai1b",
        }
    ),
    "tpu7x": frozenset({"us-central1-ai1a", "us-central1-c"}),
}

FLEX_START_ZONES: Mapping[str, frozenset[str]] = {
    "v5e": frozenset({"us-west4-a"}),
    "v5p": frozenset({"us-east5-a"}),
    "v6e": frozenset({"asia-northeast1-b", "us-east5-a", "us-east5-b"}),
    "tpu7x": frozenset({"us-central1-c"}),
}
"""Zones where ``capacity: flex-start`` is offered. europe-west4-a has neither flex-start nor calendar for v6e."""

PRICES_AS_OF = "2026-08"
"""List prices: skypilot-org/skypilot-catalog ``catalogs/v8/gcp/vms.csv`` @006059e0. Spot prices change monthly."""

CLUSTER_FEE_USD_PER_HOUR = 0.10
"""GKE's management fee for one cluster (https://cloud.google.com/kubernetes-engine/pricing). The first zonal cluster of
a billing account is free of it."""

FRESH_DAYS = 60
"""Tables that are older say so where they are used."""


def stale(as_of: str, today: date) -> str | None:
    """``"of 2026-08, 83 days old"`` for a table older than :data:`FRESH_DAYS`; ``as_of`` is a month or a day."""
    first = date.fromisoformat(as_of if as_of.count("-") == 2 else f"{as_of}-01")
    # Of a month, its last days count.
    days = (today - first).days - (0 if as_of.count("-") == 2 else 30)
    return f"of {as_of}, {days} days old" if days > FRESH_DAYS else None


@dataclass(frozen=True)
class ChipPrice:
    """USD per chip and hour; ``None`` where no public price exists."""

    on_demand: float
    spot: float | None


V6E_PRICES: Mapping[str, ChipPrice] = {
    "us-central1": ChipPrice(2.70, 0.544),
    "us-east1": ChipPrice(2.70, 0.544),
    "us-west1": ChipPrice(2.70, 0.544),
    "us-east5": ChipPrice(2.70, 1.215),
    "us-south1": ChipPrice(2.70, 1.35),
    "europe-west4": ChipPrice(2.97, 1.037),
    "asia-southeast1": ChipPrice(2.97, 0.363),
    "asia-northeast1": ChipPrice(3.24, 0.944),
    "asia-south1": ChipPrice(3.24, 2.27),
    "southamerica-west1": ChipPrice(2.70, None),
}


def region_of(zone: str) -> str:
    """The region of a zone: its first two parts, since zones such as ``us-south1-ai1b`` have no one-letter suffix."""
    return "-".join(zone.split("-")[:2])


def is_ai_zone(zone: str) -> bool:
    """AI zones (``us-south1-ai1b``) hold accelerators, but neither control planes nor ordinary nodes."""
    return zone.split("-")[-1].startswith("ai")


def known_zones() -> frozenset[str]:
    """Every zone the catalogue knows to offer some TPU family on GKE."""
    return frozenset[str]().union(*GKE_ZONES.values())


def chip_price(family: str, zone: str, capacity: Capacity) -> float | None:
    """USD per chip-hour, or ``None`` where no public price is known: callers show "unknown", they never guess.

    A reservation is billed at the on-demand rate unless a commitment says otherwise; flex-start prices are not public.
    """
    price = V6E_PRICES.get(region_of(zone)) if family == "v6e" else None
    if price is None or capacity == "flex-start":
        return None
    return price.spot if capacity == "spot" else price.on_demand
