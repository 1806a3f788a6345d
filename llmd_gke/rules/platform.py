"""Rules about the platform: charts, CRDs, KServe's configuration, NetworkPolicies.

Sources: kserve v0.20.0 ``charts/`` and ``pkg/apis/serving/v1beta1/configmap.go``; kubernetes-sigs/lws#880.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import cast

from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Node, Value
from llmd_gke.rules.versions import version_of

KSERVE_NAMESPACE = "kserve"
KSERVE_CHARTS = frozenset(
    {"kserve-llmisvc-crd", "kserve-llmisvc-crd-minimal", "kserve-llmisvc-resources", "kserve-runtime-configs"}
)
CONTROLLER_CHART = "kserve-llmisvc-resources"
GKE_OWNED = re.compile(r"(inferencepools\.inference\.networking\.(x-)?k8s\.io|[a-z]+\.gateway\.networking\.k8s\.io)")
STALE_LABEL = ("app.kubernetes.io/component", "workload")


def chart_name(chart: str) -> str:
    """The name of a chart given by OCI address, folder, or name."""
    return chart.rstrip("/").rsplit("/", 1)[-1]


def kserve_namespace(chart: str, namespace: Node) -> Iterator[Finding]:
    """KServe's charts go to the namespace that their CRDs' conversion webhook names."""
    value = namespace.text()
    if chart in KSERVE_CHARTS and (namespace.value is None or value not in (None, KSERVE_NAMESPACE)):
        yield Finding(
            "kserve-namespace",
            f"{chart} would be installed in namespace {value or 'default'}; the CRD chart hard-codes kserve for the "
            "conversion webhook and its certificate, so conversion breaks anywhere else",
            allowed=KSERVE_NAMESPACE,
            fix="namespace: kserve",
        )


def bundled_crds(chart: str, values: Node) -> Iterator[Finding]:
    """KServe's chart leaves the CRDs that GKE owns alone."""
    if chart != CONTROLLER_CHART:
        return
    switch = values.get("kserve", "llmisvc", "createGIECRDs")
    if switch.value is None or switch.flag() is True:
        yield Finding(
            "crd-ownership",
            f"{CONTROLLER_CHART} would install the InferencePool CRDs (createGIECRDs is true unless switched off): GKE "
            "owns them from 1.34.0-gke.1626000 on, and two owners fight",
            fix="set the value kserve.llmisvc.createGIECRDs: false",
        )


def owned_crd(name: Node) -> Iterator[Finding]:
    """No CRD that GKE installs itself once its Gateway API channel is on."""
    value = name.text()
    if value is not None and GKE_OWNED.fullmatch(value):
        yield Finding(
            "crd-ownership",
            f"CRD {value} is GKE's own (Gateway API channel; InferencePool v1 from 1.34.0-gke.1626000) or one that "
            "makes KServe build every pool twice (v1alpha2); GKE 1.35 blocks the experimental channel",
            fix="leave it out and set gatewayApiConfig.channel: CHANNEL_STANDARD on the cluster",
        )


def preset_deletion(chart: str, values: Node) -> Iterator[Finding]:
    """The controller lets its presets go when everything is destroyed."""
    if chart != CONTROLLER_CHART:
        return
    for variable in values.get("kserve", "llmisvc", "controller", "env").each():
        if variable.get("name").text() == "PREVENT_WELL_KNOWN_CONFIG_DELETION":
            if str(variable.get("value").value).lower() == "false":
                return
            break
    if not values.notes.unknown:
        yield Finding(
            "preset-deletion",
            "KServe's webhook refuses to delete its presets, so `pulumi destroy` fails",
            fix="set env PREVENT_WELL_KNOWN_CONFIG_DELETION=false in kserve.llmisvc.controller.env",
        )


def chart_version(chart: str, version: Node, floors: Mapping[str, str], why: Mapping[str, str]) -> Iterator[Finding]:
    """The chart is not older than its floor. ``floors`` by the start of the chart's name."""
    name = next((start for start in floors if chart == start or chart.startswith(f"{start}-")), None)
    text = version.text()
    found, floor = version_of(text or ""), version_of(floors[name]) if name else None
    if name and found and floor and found < floor:
        yield Finding(
            "platform-version",
            f"{chart} {text} is older than {floors[name]}: {why[name]}",
            allowed=f"{floors[name]} or newer",
            fix=f"use {floors[name]} or newer",
        )


def kserve_tls(data: Node) -> Iterator[Finding]:
    """KServe serves plain HTTP: GKE's Gateway cannot be told another protocol than the Service's."""
    text = data.get("ingress").text()
    try:
        ingress = cast("Value", json.loads(text)) if text else None
    except json.JSONDecodeError:
        return
    if isinstance(ingress, Mapping) and ingress.get("enableLLMInferenceServiceTLS") is True:
        yield Finding(
            "kserve-tls",
            "data.ingress: enableLLMInferenceServiceTLS is true: workload Services say https while the InferencePool "
            "is called by plain HTTP, and nothing at GKE's Gateway overrides either (WRONG_VERSION_NUMBER)",
            allowed="false",
            fix="set enableLLMInferenceServiceTLS to false",
        )


def _selectors(spec: Node) -> Iterator[Node]:
    yield spec.get("podSelector")
    for key, peers in (("ingress", "from"), ("egress", "to")):
        for rule in spec.get(key).each():
            yield from (peer.get("podSelector") for peer in rule.get(peers).each())


def stale_labels(spec: Node) -> Iterator[Finding]:
    """Selectors use labels that KServe really sets."""
    for selector in _selectors(spec):
        label, value = STALE_LABEL
        labels = [(selector.get("matchLabels", label), selector.get("matchLabels", label).text())]
        for expression in selector.get("matchExpressions").each():
            if expression.get("key").text() == label:
                labels += [(node, node.text()) for node in expression.get("values").each()]
        for node, found in labels:
            if found == value:
                yield Finding(
                    "network-policy-labels",
                    f"{node.path}: {label}={value} matches no pod of KServe's",
                    allowed="kserve.io/component=workload, or app.kubernetes.io/component=llminferenceservice-workload",
                    fix="select kserve.io/component=workload and app.kubernetes.io/name=NAME",
                )


def open_policy(spec: Node) -> Iterator[Finding]:
    """A NetworkPolicy restricts something: no rule without peers and ports, none that admits every namespace."""
    for key, peers in (("ingress", "from"), ("egress", "to")):
        for rule in spec.get(key).each():
            if rule.value == {}:
                yield _open(f"{rule.path} is empty: everything is allowed")
            for peer in rule.get(peers).each():
                selector, pods = peer.get("namespaceSelector"), peer.get("podSelector")
                if selector.value == {} and pods.value is None:
                    yield _open(f"{peer.path} admits every pod of every namespace")


def _open(problem: str) -> Finding:
    return Finding("network-policy-open", problem, fix="name the peers: address ranges, namespaces with labels, pods")
