"""Egress of pods: FQDNNetworkPolicies need a cluster that supports them."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.rules import egress
from policies.rules.kinds import CLUSTER, FQDN_POLICY
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, about


def _cluster(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    if any(program.of(FQDN_POLICY)):
        for owner in program.of(CLUSTER):
            yield from about(owner, egress.ready_for_names(owner.node))


FQDN = Rule(
    name="fqdn-network-policy",
    title="Clusters with FQDNNetworkPolicies have the feature enabled",
    why="GKE supports FQDNNetworkPolicy only on Dataplane V2 and with `enableFqdnNetworkPolicy`; otherwise the "
    "kind does not exist, and pods that rely on it cannot reach anything.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/how-to/fqdn-network-policies",),
    kinds=(CLUSTER, FQDN_POLICY),
    check_program=_cluster,
)
