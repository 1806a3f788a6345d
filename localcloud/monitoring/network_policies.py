"""Whether NetworkPolicies let collectors reach a port of a pod, by their text: nothing enforces them here.

Rules: https://kubernetes.io/docs/concepts/services-networking/network-policies/. An ``ipBlock`` admits no pod, as on
GKE: Dataplane V2 applies CIDR rules to addresses outside the cluster only
(https://docs.cilium.io/en/stable/security/policy/language/#ip-cidr-based).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from llmd_common.kubernetes.fields import Object, each, get, labels, name, namespace, number, part, text, texts
from localcloud.gke_gateway.resources.objects import label_selector_matches


@dataclass(frozen=True)
class Caller:
    """The pod that connects: its labels, and its namespace's name and labels."""

    namespace: str
    labels: Mapping[str, str]
    namespace_labels: Mapping[str, str]


def refusal(policies: Iterable[Object], pod: Object, port: int, caller: Caller) -> str:
    """The reason why TCP from the caller to that port of the pod is dropped; empty if it is admitted."""
    selecting = [
        policy
        for policy in policies
        if namespace(policy) == namespace(pod)
        and _restricts_ingress(policy)
        and label_selector_matches(get(policy, "spec", "podSelector"), labels(pod))
    ]
    if not selecting or any(_admits(policy, pod, port, caller) for policy in selecting):
        return ""
    listed = ", ".join(sorted(name(policy) for policy in selecting))
    return f"no NetworkPolicy admits {caller.namespace} to port {port} of {name(pod)} (those that select it: {listed})"


def _restricts_ingress(policy: Object) -> bool:
    return "Ingress" in (texts(policy, "spec", "policyTypes") or ["Ingress"])


def _admits(policy: Object, pod: Object, port: int, caller: Caller) -> bool:
    return any(
        _port_matches(rule, pod, port) and _peer_matches(rule, namespace(policy), caller)
        for rule in each(policy, "spec", "ingress")
    )


def _peer_matches(rule: Object, own_namespace: str, caller: Caller) -> bool:
    peers = each(rule, "from")
    return not peers or any(_is_peer(peer, own_namespace, caller) for peer in peers)


def _is_peer(peer: Object, own_namespace: str, caller: Caller) -> bool:
    if "ipBlock" in peer:
        return False
    if "namespaceSelector" in peer:
        if not label_selector_matches(peer["namespaceSelector"], caller.namespace_labels):
            return False
    elif caller.namespace != own_namespace:
        return False
    return "podSelector" not in peer or label_selector_matches(peer["podSelector"], caller.labels)


def _port_matches(rule: Object, pod: Object, port: int) -> bool:
    ports = each(rule, "ports")
    return not ports or any(_is_port(one, pod, port) for one in ports)


def _is_port(asked: Object, pod: Object, port: int) -> bool:
    if (text(asked, "protocol") or "TCP") != "TCP":
        return False
    given = get(asked, "port")
    if given is None:
        return True
    if isinstance(given, str):
        return any(one.name == given and one.number == port for one in declared_ports(pod))
    first = number(asked, "port") or 0
    return first <= port <= (number(asked, "endPort") or first)


@dataclass(frozen=True)
class Port:
    """A port that a container declares."""

    container: str
    name: str
    number: int


def declared_ports(pod: Object) -> list[Port]:
    """Every port that a pod's containers declare, those of sidecars first."""
    spec = part(pod, "spec")
    containers = [*each(spec, "initContainers"), *each(spec, "containers")]
    return [
        Port(text(container, "name"), text(port, "name"), number(port, "containerPort") or 0)
        for container in containers
        for port in each(container, "ports")
    ]
