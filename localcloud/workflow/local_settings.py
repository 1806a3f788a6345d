"""Settings of a stack that a local cloud does not support: the copy of the stack file is changed, with a note for the
user.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from llmd_gke.catalog import versions
from llmd_gke.rules.scaling import has_managed_adapter

BUDGET = "llmd-gke:budget"
ACCOUNT = "billingAccount"
FRONT_DOOR = "llmd-gke:frontDoor"
ACCESS = "access"
MODELS = "llmd-gke:models"
CLUSTER = "llmd-gke:cluster"
MONITORING = "llmd-gke:monitoring"
SCRAPE = "scrape"

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


def with_keda(config: Config, label: str) -> Iterator[str]:
    """Lets KEDA read the load of autoscaled models: Google's managed adapter of metrics does not run here."""
    models, cluster = config.get(MODELS), config.get(CLUSTER)
    table = cast("Config", cluster) if isinstance(cluster, dict) else {}
    version = str(table.get("minVersion", versions.gke_default()))
    if not isinstance(models, list) or not has_managed_adapter(version):
        return
    switched = False
    for position, model in enumerate(cast("list[object]", models)):
        if not isinstance(model, dict) or "minReplicas" not in model:
            continue
        settings = cast("Config", model)
        scaling = settings.get("scaling", {})
        if isinstance(scaling, dict) and cast("Config", scaling).get("source", "gke") == "gke":
            settings["scaling"] = {**cast("Config", scaling), "source": "keda"}
            switched = True
            yield (
                f"{MODELS}[{position}] ({settings.get('name')}) uses scaling.source: keda here, because the "
                f"{label} does not run Google's managed adapter of metrics. KEDA reads the same metrics."
            )
    monitoring = config.get(MONITORING)
    if switched and isinstance(monitoring, dict) and cast("Config", monitoring).get(SCRAPE) is False:
        config[MONITORING] = {**cast("Config", monitoring), SCRAPE: True}
        yield f"{MONITORING}.{SCRAPE} is set to true here: KEDA reads the load from the metrics that are collected."


def unenforced_access(config: Config, label: str) -> Iterator[str]:
    """Says that what the load balancer requires is not enforced. The setting stays: its objects are created."""
    door = config.get(FRONT_DOOR)
    if isinstance(door, dict) and cast("Config", door).get(ACCESS):
        yield (
            f"{FRONT_DOOR}.{ACCESS} is not enforced: the gateway of the {label} stores Cloud Armor's policy and IAP's "
            "client, and admits every address. Callers' keys and limits are enforced."
        )
