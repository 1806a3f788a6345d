"""The platform in the cluster: charts, CRDs, KServe's configuration, NetworkPolicies."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog import kserve, versions
from llmd_gke.rules import platform
from llmd_gke.rules.finding import Finding
from policies.rules.rule import (
    ADMIN_POLICIES,
    CHART,
    CILIUM_POLICIES,
    CONFIG_MAP,
    CRD,
    FQDN_POLICY,
    MANIFEST,
    NETWORK_POLICY,
    RELEASE,
    Parameter,
    Rule,
    Settings,
    Subject,
)

CHARTS = kserve.source("charts")
WHY_FLOOR = {
    "kserve": "0.18 and 0.19 fail where the v1alpha2 InferencePool CRD is absent, as on GKE (kserve/kserve#5708)",
    "lws": "an upgrade across 0.7 to 0.8 deletes the CRD and with it every LeaderWorkerSet (kubernetes-sigs/lws#880)",
}


def _chart(subject: Subject) -> str:
    return platform.chart_name(subject.node.get("chart").text() or subject.node.get("path").text() or "")


def _namespace(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    yield from platform.kserve_namespace(_chart(subject), subject.node.get("namespace"))


def _crds(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    if subject.kind == CRD:
        if subject.partial and subject.node.get("spec").value is None:
            return  # it waits for the CRD of another, or annotates it
        yield from platform.owned_crd(subject.node.get("metadata", "name"))
    else:
        yield from platform.bundled_crds(_chart(subject), subject.node.get("values"))


def _version(subject: Subject, settings: Settings) -> Iterator[Finding]:
    floors = {"kserve": settings.text("kserveFloor"), "lws": settings.text("lwsFloor")}
    yield from platform.chart_version(subject.node, floors, WHY_FLOOR)


def _presets(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    yield from platform.preset_deletion(_chart(subject), subject.node.get("values"))


def _tls(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    if subject.name == "inferenceservice-config":
        yield from platform.kserve_tls(subject.node.get("data"))


def _labels(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    yield from platform.stale_labels(subject.spec)


def _open(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    checks = {NETWORK_POLICY: platform.open_policy, FQDN_POLICY: platform.open_names}
    checks |= dict.fromkeys(ADMIN_POLICIES, platform.open_admin_policy)
    if subject.kind in checks:
        yield from checks[subject.kind](subject.spec)
        return
    yield from platform.open_cluster_policy(subject.spec)
    for spec in subject.node.get("specs").each():
        yield from platform.open_cluster_policy(spec)


NAMESPACE = Rule(
    name="kserve-namespace",
    title="KServe is installed in namespace kserve",
    why="Its CRD chart hard-codes the namespace of the conversion webhook and of the certificate it injects.",
    sources=(f"{CHARTS}/{kserve.CRD_CHART}",),
    kinds=(RELEASE, CHART),
    check=_namespace,
)

CRD_OWNERSHIP = Rule(
    name="crd-ownership",
    title="CRDs that GKE owns are left to GKE",
    why=f"With its Gateway API channel on, GKE installs the Gateway API CRDs and from {versions.gke_floor()} the "
    "InferencePool v1 CRD. KServe's chart brings its own unless told not to, and GKE 1.35 blocks experimental ones.",
    sources=(
        kserve.issue(5543),
        "https://github.com/llm-d/llm-d/tree/main/guides/prereq/gateway-provider",
    ),
    kinds=(RELEASE, CHART, CRD),
    check=_crds,
    opt_out=f"A cluster older than {versions.gke_floor()}, or not GKE: set this rule to advisory.",
)

VERSION = Rule(
    name="platform-version",
    title="KServe and LeaderWorkerSet are not older than what works on GKE",
    why=f"KServe: {WHY_FLOOR['kserve']}. LeaderWorkerSet: {WHY_FLOOR['lws']}.",
    sources=(kserve.issue(5708), "https://github.com/kubernetes-sigs/lws/issues/880"),
    kinds=(RELEASE, CHART),
    check=_version,
    parameters=(
        Parameter("kserveFloor", kserve.FLOOR, "Oldest chart version of KServe"),
        Parameter("lwsFloor", "0.8.0", "Oldest chart version of LeaderWorkerSet"),
    ),
)

PRESETS = Rule(
    name="preset-deletion",
    title="KServe lets its presets be deleted",
    why="From 0.20 on a webhook refuses to delete the well-known LLMInferenceServiceConfigs, and `pulumi destroy` with "
    "it, unless the controller's environment says otherwise.",
    sources=(kserve.source(kserve.CONTROLLER),),
    kinds=(RELEASE, CHART),
    check=_presets,
    level="advisory",
    severity="medium",
)


TLS = Rule(
    name="kserve-tls",
    title="KServe's backends speak plain HTTP",
    why="With the switch on, KServe gives the workload Service `appProtocol: https`, while the InferencePool has no "
    "protocol and is called by plain HTTP. GKE's Gateway has no override: GCPBackendPolicy has no protocol field.",
    sources=(kserve.issue(5531),),
    kinds=(CONFIG_MAP,),
    check=_tls,
    opt_out="Where HTTPS to the backends is proven, with HealthCheckPolicies of type HTTPS: set this rule to advisory.",
)


LABELS = Rule(
    name="network-policy-labels",
    title="NetworkPolicies select labels that KServe sets",
    why="`app.kubernetes.io/component: workload`, copied from older material, is on no pod: such a policy guards "
    "nothing, or admits nobody.",
    sources=(kserve.source(f"{kserve.CONTROLLER}/workload.go"),),
    kinds=(NETWORK_POLICY,),
    check=_labels,
)

OPEN = Rule(
    name="network-policy-open",
    title="NetworkPolicies restrict something",
    why="An empty rule allows everything, an empty namespaceSelector every pod of the cluster: the policy then only "
    "looks like a guard.",
    sources=("https://kubernetes.io/docs/concepts/services-networking/network-policies/#allow-all-ingress-traffic",),
    kinds=(NETWORK_POLICY, FQDN_POLICY, *ADMIN_POLICIES, *CILIUM_POLICIES),
    check=_open,
    level="advisory",
    severity="medium",
)


def _unreadable(subject: Subject, _settings: Settings) -> Iterator[Finding]:
    subject.node.get("text").present()
    reason = subject.node.get("unreadable").text()
    if reason is not None:
        yield Finding(
            "unreadable-manifest",
            f"{reason}: its objects are judged when the provider has unpacked them, after the first update",
            fix="correct it, or make its objects as resources of their own",
        )


UNREADABLE = Rule(
    name="unreadable-manifest",
    title="Manifests in bundles can be read",
    why="On a first preview the pack reads the text of a ConfigGroup itself, since the provider does not unpack it "
    "yet. A document that is no YAML, or that stands for millions of values by aliases, cannot be judged.",
    sources=("https://www.pulumi.com/registry/packages/kubernetes/api-docs/yaml/v2/configgroup/",),
    kinds=(MANIFEST,),
    check=_unreadable,
    level="advisory",
    severity="medium",
)

RULES = (UNREADABLE, NAMESPACE, CRD_OWNERSHIP, VERSION, PRESETS, TLS, LABELS, OPEN)
