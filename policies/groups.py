"""The rules of the pack, by group. They import no engine: :mod:`policies.crossguard` makes policies of them."""

from __future__ import annotations

from types import ModuleType

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


class Group:
    """Rules about one subject: all that its modules define. ``slug`` is the name of their documentation page."""

    def __init__(self, slug: str, title: str, *modules: ModuleType) -> None:
        self.slug, self.title = slug, title
        found = (value for module in modules for value in vars(module).values())
        self.rules = tuple(rule for rule in found if isinstance(rule, Rule))


GROUPS = (
    Group("gateways", "Gateways", gateway, open_gateway, istio),
    Group("routes", "Routes", routes, references),
    Group("front-door", "Front door", front_door),
    Group("health-checks", "Health checks and timeouts", health, draining),
    Group("llm-inference-service", "LLMInferenceService", serving, scaling),
    Group("inference-pools", "InferencePools", pools),
    Group("model-pods", "Model pods", tpu_pods, pods),
    Group("platform", "Platform", platform),
    Group("clusters", "Clusters and networks", cluster, ranges, budget),
    Group("egress", "Egress", egress),
    Group("tpu-node-pools", "TPU and GPU node pools", tpu_pools, gpu_pools, compute_class),
    Group("exposure", "Exposure", exposure, google_guards),
    Group("production", "Production stacks", production),
)

ALL: tuple[Rule, ...] = tuple(rule for group in GROUPS for rule in group.rules)

_SLUGS = {rule.name: group.slug for group in GROUPS for rule in group.rules}


def page_of(rule: Rule) -> str:
    """Path of a rule's documentation, relative to the root of the repository."""
    return f"docs/policies/{_SLUGS[rule.name]}.md#{rule.name}"
