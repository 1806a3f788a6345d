"""Rules about NetworkPolicies, FQDNNetworkPolicies, the cluster administrator's policies, and Cilium's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmd_gke.catalog import kserve
from llmd_gke.gateways.gateway import GATEWAY_LABEL
from llmd_gke.rules import addresses
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown

MANY_PORTS = 60_000
STALE_LABEL = (kserve.COMPONENT, "workload")


def _selectors(spec: Input) -> Iterator[Input]:
    yield spec.get("podSelector")
    for key, peers in (("ingress", "from"), ("egress", "to")):
        for rule in spec.get(key).each():
            yield from (peer.get("podSelector") for peer in rule.get(peers).each())


def stale_labels(spec: Input) -> Iterator[Finding]:
    """Selectors use labels that KServe actually sets."""
    for selector in _selectors(spec):
        label, value = STALE_LABEL
        labels = [(selector.get("matchLabels", label), selector.get("matchLabels", label).text())]
        for expression in selector.get("matchExpressions").each():
            if expression.get("key").text() == label:
                labels += [(node, node.text()) for node in expression.get("values").each()]
        for node, current in labels:
            if current == value:
                yield Finding(
                    "network-policy-labels",
                    f"{node.path}: {label}={value} matches no pod that KServe creates",
                    allowed=f"{kserve.OWN_COMPONENT}={kserve.WORKLOAD}, or {kserve.COMPONENT}={kserve.PART}-workload",
                    fix=f"select {kserve.OWN_COMPONENT}={kserve.WORKLOAD} and {kserve.NAME}=NAME",
                )


def open_policy(spec: Input) -> Iterator[Finding]:
    """A NetworkPolicy restricts something: peers or ports in each rule, and no peer that admits everyone.

    The proxies of a Gateway that run as pods are what clients come to: there ports are enough.
    """
    entrance = spec.get("podSelector", "matchLabels", GATEWAY_LABEL).text() is not None
    for key, peers in (("ingress", "from"), ("egress", "to")):
        for rule in spec.get(key).each():
            if key == "ingress" and entrance and not _every_port(rule.get("ports")):
                continue
            named, ports = list(rule.get(peers).each()), not _every_port(rule.get("ports"))
            if not named and (key == "ingress" or not ports) and not isinstance(rule.get(peers).value, Unknown):
                yield _open(f"{rule.path} names no peers: {'it admits everyone' if ports else 'everything is allowed'}")
            for peer in named:
                if _every_pod(peer):
                    yield _open(f"{peer.path} admits every pod in every namespace")
            blocks = [text for peer in named if (text := peer.get("ipBlock", "cidr").text())]
            if key == "ingress" or not ports:
                for block in addresses.not_naming(blocks):
                    yield _open(f"{rule.path}.{peers}: {block} admits everyone")
        kinds = [kind.text() for kind in spec.get("policyTypes").each()]
        if kinds and list(spec.get(key).each()) and key not in [(kind or key).lower() for kind in kinds]:
            yield _open(f"spec.policyTypes does not list {key.capitalize()}: spec.{key} has no effect")


def _every_port(ports: Input) -> bool:
    """Whether a rule covers all ports: it lists none, or an entry for all ports of a protocol."""
    entries = list(ports.each())
    if not entries:
        return not isinstance(ports.value, Unknown)
    spans: dict[str, int] = {}
    for entry in entries:
        first, last = entry.get("port"), entry.get("endPort")
        if first.value is None:
            return True
        if isinstance(first.value, int) and isinstance(last.value, int):
            protocol = entry.get("protocol").text() or "TCP"
            spans[protocol] = spans.get(protocol, 0) + last.value - first.value
    return any(span > MANY_PORTS for span in spans.values())


def _every_pod(peer: Input) -> bool:
    """Whether a peer selects every pod: its namespace selector excludes hardly any, and it has no pod selector."""
    return _selects_all(peer.get("namespaceSelector")) and (
        peer.get("podSelector").value is None or _selects_all(peer.get("podSelector"))
    )


def _selects_all(selector: Input) -> bool:
    if not isinstance(selector.value, Mapping) or selector.get("matchLabels").value:
        return False
    return all(
        expression.get("operator").text() in ("NotIn", "DoesNotExist")
        or (
            expression.get("operator").text() == "Exists"
            and expression.get("key").text() == "kubernetes.io/metadata.name"
        )
        for expression in selector.get("matchExpressions").each()
    )


def open_names(spec: Input) -> Iterator[Finding]:
    """An FQDNNetworkPolicy does not allow every name, or every name of a top-level domain."""
    for rule in spec.get("egress").each():
        for match in rule.get("matches").each():
            text = match.get("pattern").text() or ""
            if _every_name(text):
                yield _open(f"{match.path}.pattern {text} allows every name, or every name of a top-level domain")


def _every_name(pattern: str) -> bool:
    return "*" in pattern and len([label for label in pattern.split(".") if label.strip("*")]) < 2


def open_admin_policy(spec: Input) -> Iterator[Finding]:
    """A policy of the cluster's administrator allows neither everyone nor every namespace."""
    for key, peers in (("ingress", "from"), ("egress", "to")):
        for rule in spec.get(key).each():
            if rule.get("action").text() not in (None, "Allow", "Accept"):
                continue
            for peer in rule.get(peers).each():
                namespaces, pods = peer.get("namespaces"), peer.get("pods", "namespaceSelector")
                blocks = [text for block in peer.get("networks").each() if (text := block.text())]
                wide = any(_every_name(name.text() or "") for name in peer.get("domainNames").each())
                if _selects_all(namespaces) or _selects_all(pods) or addresses.not_naming(blocks) or wide:
                    yield _open(f"{peer.path} allows everyone and overrides the NetworkPolicies of the namespaces")


def open_cluster_policy(spec: Input) -> Iterator[Finding]:
    """A Cilium policy admits neither the world nor everything, and denies everything else."""
    for key in ("ingress", "egress"):
        default = spec.get("enableDefaultDeny", key)
        if default.boolean() is False and list(spec.get(key).each()):
            yield _open(f"{default.path} is false: spec.{key} restricts nothing")
    for key, side in (("ingress", "from"), ("egress", "to")):
        for rule in spec.get(key).each():
            entities = [entity.text() for entity in rule.get(f"{side}Entities").each()]
            blocks = [text for block in rule.get(f"{side}CIDR").each() if (text := block.text())]
            blocks += [text for block in rule.get(f"{side}CIDRSet").each() if (text := block.get("cidr").text())]
            wide = [entity for entity in entities if entity in ("all", "cluster", "world", "world-ipv4", "world-ipv6")]
            patterns = [name.get("matchPattern").text() or "" for name in rule.get(f"{side}FQDNs").each()]
            unnamed = (
                key == "ingress"
                and isinstance(rule.value, Mapping)
                and not any(name.startswith("from") for name in rule.value)
            )
            if rule.value == {} or wide or unnamed or addresses.not_naming(blocks) or any(map(_every_name, patterns)):
                yield _open(f"{rule.path} admits everyone")
            for endpoint in rule.get(f"{side}Endpoints").each():
                if endpoint.value == {} or _any_namespace(endpoint):
                    yield _open(f"{endpoint.path} admits every pod")


def _any_namespace(endpoint: Input) -> bool:
    """Whether a Cilium selector selects all pods of all namespaces."""
    if not isinstance(endpoint.value, Mapping) or endpoint.get("matchLabels").value:
        return False
    expressions = list(endpoint.get("matchExpressions").each())
    return bool(expressions) and all(
        (one.get("key").text() or "").endswith("io.kubernetes.pod.namespace")
        and one.get("operator").text() in ("Exists", "NotIn")
        for one in expressions
    )


def _open(problem: str) -> Finding:
    return Finding(
        "network-policy-open", problem, fix="name the peers: address ranges, namespaces selected by labels, pods"
    )
