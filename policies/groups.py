"""The rules of the pack, by group. They import no engine: :mod:`policies.crossguard` makes policies of them."""

from __future__ import annotations

from dataclasses import dataclass

from policies.rules.clusters import budget, cluster, ranges
from policies.rules.egress import egress
from policies.rules.exposure import exposure, google_guards
from policies.rules.front_door import front_door
from policies.rules.gateways import gateway, istio, open_gateway
from policies.rules.health_checks import draining, health
from policies.rules.inference_pools import pools
from policies.rules.llm_inference_service import scaling, serving
from policies.rules.model_pods import pods, tpu_pods
from policies.rules.platform import platform
from policies.rules.production import production
from policies.rules.routes import references, routes
from policies.rules.rule import Rule
from policies.rules.tpu_node_pools import compute_class, gpu_pools, tpu_pools


@dataclass(frozen=True)
class Group:
    """Rules about one subject; ``slug`` is the name of their documentation page."""

    slug: str
    title: str
    rules: tuple[Rule, ...]


GROUPS = (
    Group("gateways", "Gateways", (*gateway.RULES, *open_gateway.RULES, *istio.RULES)),
    Group("routes", "Routes", (*routes.RULES, *references.RULES)),
    Group("front-door", "Front door", front_door.RULES),
    Group("health-checks", "Health checks and timeouts", (*health.RULES, *draining.RULES)),
    Group("llm-inference-service", "LLMInferenceService", (*serving.RULES, *scaling.RULES)),
    Group("inference-pools", "InferencePools", pools.RULES),
    Group("model-pods", "Model pods", (*tpu_pods.RULES, *pods.RULES)),
    Group("platform", "Platform", platform.RULES),
    Group("clusters", "Clusters and networks", (*cluster.RULES, *ranges.RULES, *budget.RULES)),
    Group("egress", "Egress", egress.RULES),
    Group("tpu-node-pools", "TPU and GPU node pools", (*tpu_pools.RULES, *gpu_pools.RULES, *compute_class.RULES)),
    Group("exposure", "Exposure", (*exposure.RULES, *google_guards.RULES)),
    Group("production", "Production stacks", production.RULES),
)

ALL: tuple[Rule, ...] = tuple(rule for group in GROUPS for rule in group.rules)

_SLUGS = {rule.name: group.slug for group in GROUPS for rule in group.rules}


def page_of(rule: Rule) -> str:
    """Path of a rule's documentation, relative to the root of the repository."""
    return f"docs/policies/{_SLUGS[rule.name]}.md#{rule.name}"
