"""What pods may reach outside: policies by name need a cluster that knows them."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import egress
from policies.rules.rule import (
    CLUSTER,
    FQDN_POLICY,
    Program,
    Rule,
    Settings,
    Verdict,
)


def _cluster(program: Program, _settings: Settings) -> Iterator[Verdict]:
    if any(program.of(FQDN_POLICY)):
        for owner in program.of(CLUSTER):
            for finding in egress.ready_for_names(owner.node):
                yield Verdict(owner, finding)


FQDN = Rule(
    name="fqdn-network-policy",
    title="Clusters with FQDNNetworkPolicies have them switched on",
    why="GKE serves FQDNNetworkPolicy on Dataplane V2 only, and only with `enableFqdnNetworkPolicy`; elsewhere the "
    "kind does not exist, and pods that rely on it reach nothing.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/how-to/fqdn-network-policies",),
    kinds=(CLUSTER, FQDN_POLICY),
    judge=_cluster,
)

RULES = (FQDN,)
