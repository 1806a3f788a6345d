"""The platform in the cluster: charts, CRDs, KServe's configuration, NetworkPolicies."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import front_door, kserve, versions
from llmd_gke.rules import network_policies, platform
from llmd_gke.rules.finding import Finding
from policies.rules import kinds
from policies.rules.rule import STACKS, Parameter, ParameterValues, Rule, Subject, on_spec

CHARTS = kserve.source("charts")
WHY_FLOOR = {
    "kserve": "0.18 and 0.19 fail without the v1alpha2 InferencePool CRD, which GKE does not have (kserve/kserve#5708)",
    "gateway-helm": "1.8.0 and 1.8.1 reject every rate limit on Kubernetes 1.36 (envoyproxy/gateway#9186)",
    "ai-gateway-helm": "its API is stable from 1.0 on",
    "lws": "an upgrade from 0.7 to 0.8 deletes the CRD and with it every LeaderWorkerSet (kubernetes-sigs/lws#880)",
}


def _chart(subject: Subject) -> str:
    return platform.chart_reference(subject.node.get("chart").text() or subject.node.get("path").text() or "")[0]


def _namespace(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    yield from platform.kserve_namespace(_chart(subject), subject.node.get("namespace"))


def _crds(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    if subject.kind == kinds.CRD:
        if subject.partial and subject.node.get("spec").value is None:
            return  # a patch that waits for someone else's CRD, or annotates it
        yield from platform.owned_crd(subject.node.get("metadata", "name"))
    else:
        skipped = subject.node.get("skipCrds").boolean() is True
        yield from platform.bundled_crds(_chart(subject), subject.node.get("values"), skipped=skipped)


def _version(subject: Subject, settings: ParameterValues) -> Iterator[Finding]:
    floors = {
        "kserve": settings.text("kserveFloor"),
        "lws": settings.text("lwsFloor"),
        front_door.GATEWAY_CHART: settings.text("envoyGatewayFloor"),
        front_door.AI_GATEWAY_CHART: settings.text("aiGatewayFloor"),
    }
    yield from platform.chart_version(subject.node, floors, WHY_FLOOR)


def _presets(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    yield from platform.preset_deletion(_chart(subject), subject.node.get("values"))


def _tls(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    if subject.name == "inferenceservice-config":
        yield from platform.kserve_tls(subject.node.get("data"))


def _unreadable(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    subject.node.get("text").present()
    reason = subject.node.get("unreadable").text()
    if reason is not None:
        yield Finding(
            "unreadable-manifest",
            f"{reason}: its objects are checked only after the first update, when the provider has rendered them",
            fix="correct it, or create its objects as separate resources",
        )


def _open(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    checks = {kinds.NETWORK_POLICY: network_policies.open_policy, kinds.FQDN_POLICY: network_policies.open_names}
    checks |= dict.fromkeys(kinds.ADMIN_POLICIES, network_policies.open_admin_policy)
    if subject.kind in checks:
        yield from checks[subject.kind](subject.spec)
        return
    yield from network_policies.open_cluster_policy(subject.spec)
    for spec in subject.node.get("specs").each():
        yield from network_policies.open_cluster_policy(spec)


UNREADABLE = Rule(
    name="unreadable-manifest",
    title="Manifests in bundles are readable",
    why="In a first preview the pack reads the text of a ConfigGroup itself, because the provider does not render "
    "it yet. A document that is not YAML, or whose aliases expand to millions of values, cannot be checked.",
    sources=("https://www.pulumi.com/registry/packages/kubernetes/api-docs/yaml/v2/configgroup/",),
    kinds=(kinds.MANIFEST,),
    check_object=_unreadable,
    level="advisory",
    severity="medium",
)

NAMESPACE = Rule(
    name="kserve-namespace",
    title="KServe is installed in namespace kserve",
    why="Its CRD chart hard-codes the namespace of the conversion webhook and of the certificate that it injects.",
    sources=(f"{CHARTS}/{kserve.CRD_CHART}",),
    kinds=(kinds.RELEASE, kinds.CHART),
    check_object=_namespace,
)

CRD_OWNERSHIP = Rule(
    name="crd-ownership",
    title="CRDs that GKE manages are not installed by the program",
    why=f"With the Gateway API channel enabled, GKE installs the Gateway API CRDs and, from {versions.gke_floor()} "
    "on, the InferencePool v1 CRD. The charts of KServe and Envoy Gateway install their own unless disabled, and GKE "
    "1.35 blocks experimental ones.",
    sources=(kserve.issue(5543), "https://github.com/llm-d/llm-d/tree/main/guides/prereq/gateway-provider"),
    kinds=(kinds.RELEASE, kinds.CHART, kinds.CRD),
    check_object=_crds,
    opt_out=f"For a cluster older than {versions.gke_floor()}, or outside GKE, make this rule advisory.",
)

VERSION = Rule(
    name="platform-version",
    title="KServe, LeaderWorkerSet and Envoy Gateway are new enough for GKE",
    why=f"KServe: {WHY_FLOOR['kserve']}. LeaderWorkerSet: {WHY_FLOOR['lws']}. "
    f"Envoy Gateway: {WHY_FLOOR['gateway-helm']}.",
    sources=(kserve.issue(5708), "https://github.com/kubernetes-sigs/lws/issues/880"),
    kinds=(kinds.RELEASE, kinds.CHART),
    check_object=_version,
    parameters=(
        Parameter("kserveFloor", kserve.FLOOR, "Minimum chart version of KServe"),
        Parameter("lwsFloor", "0.8.0", "Minimum chart version of LeaderWorkerSet"),
        Parameter("envoyGatewayFloor", front_door.FLOOR, "Minimum chart version of Envoy Gateway"),
        Parameter("aiGatewayFloor", front_door.AI_FLOOR, "Minimum chart version of Envoy AI Gateway"),
    ),
)

PRESETS = Rule(
    name="preset-deletion",
    title="KServe allows the deletion of its presets",
    why="From 0.20 on a webhook rejects the deletion of the well-known LLMInferenceServiceConfigs, so `pulumi "
    "destroy` fails unless the controller's environment allows the deletion.",
    sources=(kserve.source(kserve.CONTROLLER),),
    kinds=(kinds.RELEASE, kinds.CHART),
    check_object=_presets,
    level="advisory",
    severity="medium",
)


TLS = Rule(
    name="kserve-tls",
    title="KServe's backends use plain HTTP",
    why="With TLS enabled, KServe gives the workload Service `appProtocol: https`, but the InferencePool has no "
    "protocol and is called over plain HTTP. GKE's Gateway cannot override this: GCPBackendPolicy has no "
    "protocol field.",
    sources=(kserve.issue(5531),),
    kinds=(kinds.CONFIG_MAP,),
    check_object=_tls,
    opt_out="Where HTTPS to the backends is known to work, with HealthCheckPolicies of type HTTPS, make this rule "
    "advisory.",
)


LABELS = Rule(
    name="network-policy-labels",
    title="NetworkPolicies select labels that KServe sets",
    why="No pod has the label `app.kubernetes.io/component: workload` from older documentation: a policy that "
    "selects it protects nothing, or admits no one.",
    sources=(kserve.source(f"{kserve.CONTROLLER}/workload.go"),),
    kinds=(kinds.NETWORK_POLICY,),
    check_object=on_spec(network_policies.stale_labels),
)

OPEN = Rule(
    name="network-policy-open",
    title="NetworkPolicies actually restrict traffic",
    why="An empty rule allows everything, and an empty namespaceSelector every pod in the cluster: the policy then "
    "only appears to protect.",
    sources=("https://kubernetes.io/docs/concepts/services-networking/network-policies/#allow-all-ingress-traffic",),
    kinds=(kinds.NETWORK_POLICY, kinds.FQDN_POLICY, *kinds.ADMIN_POLICIES, *kinds.CILIUM_POLICIES),
    check_object=_open,
    level="production",
    severity="medium",
    parameters=(STACKS,),
)
