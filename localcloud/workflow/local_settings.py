"""Settings of a stack that a local cloud does not support: the copy of the stack file is changed, with a note for the
user.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

BUDGET = "llmd-gke:budget"
ACCOUNT = "billingAccount"
FRONT_DOOR = "llmd-gke:frontDoor"
ACCESS = "access"

Config = dict[str, object]


def without_billing(config: Config, label: str) -> Iterator[str]:
    """Removes the billing account: neither local cloud has Cloud Billing. The limits of the budget stay."""
    budget = config.get(BUDGET)
    if isinstance(budget, dict) and ACCOUNT in budget:
        kept = cast("Config", budget)
        config[BUDGET] = {key: value for key, value in kept.items() if key != ACCOUNT}
        yield (
            f"{BUDGET}.{ACCOUNT} is ignored: the {label} has no Cloud Billing. On Google Cloud the stack creates a "
            "budget there."
        )


def unenforced_access(config: Config, label: str) -> Iterator[str]:
    """Says that what the load balancer requires is not enforced. The setting stays: its objects are created."""
    door = config.get(FRONT_DOOR)
    if isinstance(door, dict) and cast("Config", door).get(ACCESS):
        yield (
            f"{FRONT_DOOR}.{ACCESS} is not enforced: the gateway of the {label} stores Cloud Armor's policy and IAP's "
            "client, and admits every address. Callers' keys and limits are enforced."
        )
