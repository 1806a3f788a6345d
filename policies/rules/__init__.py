"""The rules, one file per subject. They import no engine: :mod:`policies.crossguard` makes policies of them."""

from __future__ import annotations

from dataclasses import dataclass

from policies.rules import (
    budget,
    cluster,
    compute_class,
    egress,
    exposure,
    front_door,
    gateway,
    health,
    open_gateway,
    platform,
    pods,
    pools,
    production,
    routes,
    scaling,
    serving,
    tpu_pods,
    tpu_pools,
)
from policies.rules.rule import Rule


@dataclass(frozen=True)
class Group:
    """Rules about one subject; ``slug`` is the name of their documentation page and of their folder of examples."""

    slug: str
    title: str
    rules: tuple[Rule, ...]


GROUPS = (
    Group("gateways", "Gateways", (*gateway.RULES, *open_gateway.RULES)),
    Group("routes", "Routes", routes.RULES),
    Group("front-door", "Front door", front_door.RULES),
    Group("health-checks", "Health checks and timeouts", health.RULES),
    Group("llm-inference-service", "LLMInferenceService", (*serving.RULES, *scaling.RULES)),
    Group("inference-pools", "InferencePools", pools.RULES),
    Group("model-pods", "Model pods", (*tpu_pods.RULES, *pods.RULES)),
    Group("platform", "Platform", platform.RULES),
    Group("clusters", "Clusters and networks", (*cluster.RULES, *budget.RULES)),
    Group("egress", "Egress", egress.RULES),
    Group("tpu-node-pools", "TPU node pools", (*tpu_pools.RULES, *compute_class.RULES)),
    Group("exposure", "Exposure", exposure.RULES),
    Group("production", "Production stacks", production.RULES),
)
"""The rules by group, in the order of the documentation."""

ALL: tuple[Rule, ...] = tuple(rule for group in GROUPS for rule in group.rules)

_SLUGS = {rule.name: group.slug for group in GROUPS for rule in group.rules}


def page_of(rule: Rule) -> str:
    """Path of a rule's documentation, relative to the root of the repository."""
    return f"docs/policies/{_SLUGS[rule.name]}.md#{rule.name}"
