"""List prices of what a stack has besides chips and GKE's fee: system nodes, disks, load balancer, NAT.

An estimate: disks at the prices of US regions, no traffic, no discounts. Monitoring has an estimate of its own
(``operations/cost/monitoring.py``), which depends on the scrape interval.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

HOURS_PER_MONTH = 730
"""Hours of a month in Google's price lists (https://cloud.google.com/compute/vm-instance-pricing)."""

E2_STANDARD_16: Mapping[str, float] = {
    "asia-northeast1": 0.68773,
    "asia-south1": 0.64387,
    "asia-southeast1": 0.66133,
    "europe-west4": 0.59018,
    "southamerica-west1": 0.76661,
    "us-central1": 0.53609,
    "us-east1": 0.53609,
    "us-east4": 0.60377,
    "us-east5": 0.53609,
    "us-south1": 0.63259,
    "us-west1": 0.53609,
}
"""USD per hour of an ``e2-standard-16`` by region, in the regions with TPUs: skypilot-org/skypilot-catalog
``catalogs/v8/gcp/vms.csv`` @006059e0 (2026-08). The family's price follows the number of vCPUs."""

_E2_STANDARD = re.compile(r"e2-standard-(2|4|8|16|32)")

DISK_USD_PER_GB_MONTH: Mapping[str, float] = {
    "pd-standard": 0.04,
    "pd-balanced": 0.10,
    "pd-ssd": 0.17,
    "hyperdisk-balanced": 0.10,
}
"""US prices: https://cloud.google.com/compute/disks-image-pricing (standard and ssd by its own example, balanced as
c3x.dev quoted it in 2026). Hyperdisk Balanced is counted like ``pd-balanced``; its own price was not read."""

FORWARDING_RULE_USD_PER_HOUR = 0.025
"""https://cloud.google.com/load-balancing/pricing, the first five rules."""

NAT_USD_PER_VM_HOUR, NAT_MOST_USD_PER_HOUR, NAT_ADDRESS_USD_PER_HOUR = 0.0014, 0.044, 0.005
"""https://cloud.google.com/nat/pricing: per VM up to 32 VMs, for more, and for the gateway's address."""

CLOUD_ARMOR_USD_PER_MONTH, CLOUD_ARMOR_USD_PER_RULE_AND_MONTH = 5.0, 1.0
"""Standard tier, a policy and each of its rules: https://cloud.google.com/armor/pricing, SKUs 4B13-E64F-4A2B and
A321-89BD-F5BC of the Cloud Billing Catalog. The rule for everyone else is counted, too."""
CLOUD_ARMOR_USD_PER_MILLION_REQUESTS = 0.60
"""Standard tier, requests that a regional policy evaluates: SKU 928E-CF60-E186, converted from 0.527 EUR at the rate of
the global SKU 1A87-DEB9-C4BE, 0.659 EUR or 0.75 USD (2026-11; the page's table was not read: check it). It is in no
sum, because the settings do not have the number of requests."""


@dataclass(frozen=True)
class Overhead:
    """USD per hour. ``system_nodes`` is ``None`` for a machine type or region without a price here."""

    system_nodes: float | None
    disks: float
    load_balancer: float
    nat: float
    cloud_armor: float = 0.0

    @property
    def usd_per_hour(self) -> float:
        """The sum in USD per hour, without system nodes of unknown price."""
        return round((self.system_nodes or 0.0) + self.disks + self.load_balancer + self.nat + self.cloud_armor, 4)


def machine(machine_type: str, region: str) -> float | None:
    """USD per hour of a machine of the family e2-standard; ``None`` for others and for regions without a price."""
    match, price = _E2_STANDARD.fullmatch(machine_type), E2_STANDARD_16.get(region)
    return None if match is None or price is None else price * int(match[1]) / 16


def disk(kind: str, gigabytes: int) -> float:
    """USD per hour of a boot disk. A type without a price counts as ``pd-ssd``, the most expensive one."""
    return gigabytes * DISK_USD_PER_GB_MONTH.get(kind, DISK_USD_PER_GB_MONTH["pd-ssd"]) / HOURS_PER_MONTH


def cloud_armor(rules: int) -> float:
    """USD per hour of a security policy with that many rules; 0 without rules."""
    month = CLOUD_ARMOR_USD_PER_MONTH + rules * CLOUD_ARMOR_USD_PER_RULE_AND_MONTH if rules else 0.0
    return month / HOURS_PER_MONTH


def nat(machines: int) -> float:
    """USD per hour of a NAT gateway with one address that serves that many machines."""
    return min(machines * NAT_USD_PER_VM_HOUR, NAT_MOST_USD_PER_HOUR) + NAT_ADDRESS_USD_PER_HOUR
