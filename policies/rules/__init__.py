"""The rules, one file per room. They import no engine: see :mod:`policies.pack` for how they become policies."""

from __future__ import annotations

from policies.rules import (
    cluster,
    egress,
    gateway,
    health,
    platform,
    pods,
    pools,
    production,
    routes,
    serving,
    tpu_pods,
    tpu_pools,
)
from policies.rules.rule import Rule

ROOMS = {
    "Gateways": gateway.RULES,
    "Routes": routes.RULES,
    "Health checks and timeouts": health.RULES,
    "LLMInferenceService": serving.RULES,
    "InferencePools": pools.RULES,
    "Model pods": (*tpu_pods.RULES, *pods.RULES),
    "Platform": platform.RULES,
    "Clusters and networks": cluster.RULES,
    "Egress": egress.RULES,
    "TPU node pools": tpu_pools.RULES,
    "Production stacks": production.RULES,
}
"""The rules by room, in the order of the documentation."""

ALL: tuple[Rule, ...] = tuple(rule for rules in ROOMS.values() for rule in rules)
