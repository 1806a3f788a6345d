"""Settings of a stack that a local cloud does not support: the copy of the stack file is changed, with a note for the
user.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

BUDGET = "llmd-gke:budget"
ACCOUNT = "billingAccount"
MODELS = "llmd-gke:models"
AUTOSCALING = ("minReplicas", "maxReplicas", "scaling", "schedule")

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


def with_fixed_replicas(config: Config, label: str) -> Iterator[str]:
    """Gives each autoscaled model its smallest number of replicas: KEDA does not run on the laptop cloud yet."""
    models = config.get(MODELS)
    if not isinstance(models, list):
        return
    for position, model in enumerate(cast("list[object]", models)):
        if isinstance(model, dict) and "minReplicas" in model and "replicas" not in model:
            settings = cast("Config", model)
            least = settings["minReplicas"]
            always = ", and always runs: its schedule is ignored" if "schedule" in settings else ""
            for key in AUTOSCALING:
                settings.pop(key, None)
            settings["replicas"] = least
            yield (
                f"{MODELS}[{position}] ({settings.get('name')}) gets a fixed number of replicas, its minReplicas "
                f"{least}{always}: the {label} does not run KEDA yet."
            )
