"""Rules about the platform: charts, CRDs, KServe's configuration, NetworkPolicies.

Sources: kserve ``charts/`` and ``pkg/apis/serving/v1beta1/configmap.go``; kubernetes-sigs/lws#880.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import cast
from urllib.parse import unquote

from llmd_gke.catalog import kserve, versions
from llmd_gke.rules import addresses
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown, Value
from llmd_gke.rules.versions import version_of

GKE_OWNED = re.compile(r"(inferencepools\.inference\.networking\.(x-)?k8s\.io|[a-z]+\.gateway\.networking\.k8s\.io)")
EXACT_VERSION = re.compile(r"v?\d+\.\d+\.\d+(?:[-+].*)?")
MANY_PORTS = 60_000
STALE_LABEL = (kserve.COMPONENT, "workload")


ARCHIVE = re.compile(r"(?P<name>.+?)-(?P<version>v?\d+\.\d+\.\d+.*)\.(?:tgz|tar\.gz)")


def chart_reference(chart: str) -> tuple[str, str | None]:
    """Name and version in a reference to a chart: an OCI address with tag or digest, an archive, a folder, a name."""
    last = unquote(re.split(r"[?#]", chart.strip().rstrip("/").rsplit("/", 1)[-1])[0])
    last, _, digest = last.partition("@")
    if archive := ARCHIVE.fullmatch(last):
        return archive["name"], archive["version"]
    name, _, tag = last.removesuffix(".tgz").removesuffix(".tar.gz").partition(":")
    return name, tag or digest or None


def chart_name(chart: str) -> str:
    """The name of a chart given by OCI address, archive, folder, or name."""
    return chart_reference(chart)[0]


def is_folder(chart: str) -> bool:
    """Whether a chart lies beside the program: its version is in its Chart.yaml, which does not move."""
    return chart.startswith((".", "/", "file:"))


def kserve_namespace(chart: str, namespace: Input) -> Iterator[Finding]:
    """KServe's charts go to the namespace that their CRDs' conversion webhook names."""
    value = namespace.text()
    if chart in kserve.CHARTS and (namespace.value is None or value not in (None, kserve.NAMESPACE)):
        yield Finding(
            "kserve-namespace",
            f"{chart} would be installed in namespace {value or 'default'}; the CRD chart hard-codes kserve for the "
            "conversion webhook and its certificate, so conversion breaks anywhere else",
            allowed=kserve.NAMESPACE,
            fix="namespace: kserve",
        )


def bundled_crds(chart: str, values: Input) -> Iterator[Finding]:
    """KServe's chart does not install CRDs that GKE manages."""
    if chart != kserve.CONTROLLER_CHART:
        return
    switch = values.get("kserve", "llmisvc", "createGIECRDs")
    if switch.value is None or switch.boolean() is True:
        yield Finding(
            "crd-ownership",
            f"{kserve.CONTROLLER_CHART} would install the InferencePool CRDs (createGIECRDs is true unless switched "
            f"off): GKE manages them from {versions.gke_floor()} on, and the two would overwrite each other",
            fix="set the value kserve.llmisvc.createGIECRDs: false",
        )


def owned_crd(name: Input) -> Iterator[Finding]:
    """No CRD that GKE installs itself once its Gateway API channel is on."""
    value = name.text()
    if value is not None and GKE_OWNED.fullmatch(value):
        yield Finding(
            "crd-ownership",
            f"CRD {value} is GKE's own (Gateway API channel; InferencePool v1 from {versions.gke_floor()}) or "
            "makes KServe create every pool twice (v1alpha2); GKE 1.35 blocks the experimental channel",
            fix="remove it and set gatewayApiConfig.channel: CHANNEL_STANDARD on the cluster",
        )


def preset_deletion(chart: str, values: Input) -> Iterator[Finding]:
    """The controller allows the deletion of its presets on a destroy."""
    if chart != kserve.CONTROLLER_CHART:
        return
    for variable in values.get("kserve", "llmisvc", "controller", "env").each():
        if variable.get("name").text() == "PREVENT_WELL_KNOWN_CONFIG_DELETION":
            if str(variable.get("value").value).lower() == "false":
                return
            break
    if not values.notes.unknown:
        yield Finding(
            "preset-deletion",
            "KServe's webhook rejects the deletion of its presets, so `pulumi destroy` fails",
            fix="set env PREVENT_WELL_KNOWN_CONFIG_DELETION=false in kserve.llmisvc.controller.env",
        )


def chart_version(release: Input, floors: Mapping[str, str], why: Mapping[str, str]) -> Iterator[Finding]:
    """The chart has one version, which is not older than its floor. ``floors`` by the start of the chart's name.

    A version can stand beside the chart, in its address, or among the options for fetching it.
    """
    reference = release.get("chart").text() or release.get("path").text() or ""
    chart, inside = chart_reference(reference)
    name = next((start for start in floors if chart == start or chart.startswith(f"{start}-")), None)
    if name is None:
        return
    given_versions = [release.get("version"), release.get("fetchOpts", "version")]
    written = [text for value in given_versions if (text := value.text())]
    if inside is not None:
        written.append(inside)
    if not written and not is_folder(reference) and not release.notes.unknown:
        yield _chart_version(f"{chart} has no version: whatever is newest at the time is installed", floors[name])
    for text in written:
        version, floor = version_of(text), version_of(floors[name])
        if not EXACT_VERSION.fullmatch(text) and not text.startswith("sha256:"):
            yield _chart_version(
                f"{chart} {text} is not an exact version: what is installed depends on the time", floors[name]
            )
        elif version and floor and (version < floor or (version == floor and "-" in text)):
            yield _chart_version(f"{chart} {text} is older than {floors[name]}: {why[name]}", floors[name])


def _chart_version(problem: str, floor: str) -> Finding:
    return Finding("platform-version", problem, allowed=f"{floor} or newer", fix=f"use {floor} or newer")


def kserve_tls(data: Input) -> Iterator[Finding]:
    """KServe serves plain HTTP: GKE's Gateway cannot be told another protocol than the Service's."""
    text = data.get("ingress").text()
    try:
        ingress = cast("Value", json.loads(text)) if text else None
    except json.JSONDecodeError:
        return
    # Go reads the keys of JSON in any letters.
    switches = ingress.items() if isinstance(ingress, Mapping) else ()
    if any(key.lower() == "enablellminferenceservicetls" and value is True for key, value in switches):
        yield Finding(
            "kserve-tls",
            "data.ingress: enableLLMInferenceServiceTLS is true: workload Services declare https, but the "
            "InferencePool is called by plain HTTP, and GKE's Gateway cannot override either (WRONG_VERSION_NUMBER)",
            allowed="false",
            fix="set enableLLMInferenceServiceTLS to false",
        )


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
    """A NetworkPolicy restricts something: peers or ports in each rule, and no peer that admits everyone."""
    for key, peers in (("ingress", "from"), ("egress", "to")):
        for rule in spec.get(key).each():
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
    """Whether a rule is about all ports: it names none, or one that stands for all of a protocol."""
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
    """Whether a peer selects every pod: a selector for namespaces that excludes little, and none for pods."""
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
    """A policy by names does not allow every name, or every name of a top-level domain."""
    for rule in spec.get("egress").each():
        for match in rule.get("matches").each():
            text = match.get("pattern").text() or ""
            if _every_name(text):
                yield _open(f"{match.path}.pattern {text} allows every name, or every name of a top-level domain")


def _every_name(pattern: str) -> bool:
    """Whether a pattern is for every name, or for every name of a top-level domain."""
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
    """A policy of Cilium's kind admits neither the world nor everything, and denies what it does not admit."""
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
    """Whether a selector of Cilium's reaches beyond the policy's namespace, to all pods of all others."""
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
