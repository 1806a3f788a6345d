"""Rules about what is exposed too widely. Mandatory in production stacks, advisory in others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from llmd_gke.rules import chart_values, exposure, firewall, front_door, iam
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.pods import accelerator
from policies.rules.kinds import ANY_GOOGLE, ANY_WORKLOAD, CHARTS, CLUSTER, CONFIG_MAP, ENVOY_PROXY, SERVICE, Kind
from policies.rules.rule import STACKS, Check, Parameter, ParameterValues, Rule, Subject
from policies.rules.workloads import KSERVE, WORKLOADS, all_pods, shaped_pods

SECRET = Kind("", "Secret")
NAMESPACE = Kind("", "Namespace")
VOLUME = Kind("", "PersistentVolume")
INGRESSES = (
    Kind("networking.k8s.io", "Ingress"),
    Kind("extensions", "Ingress"),
    Kind("networking.gke.io", "MultiClusterIngress"),
)
BINDINGS = (Kind("rbac.authorization.k8s.io", "RoleBinding"), Kind("rbac.authorization.k8s.io", "ClusterRoleBinding"))
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "ClusterRole")
FIREWALLS = (
    Kind("gcp", "compute/firewall:Firewall"),
    Kind("compute.cnrm.cloud.google.com", "ComputeFirewall"),
    Kind("compute.gcp.upbound.io", "Firewall"),
    Kind("compute.gcp.m.upbound.io", "Firewall"),
)
FIREWALL_POLICIES = tuple(
    Kind("gcp", f"compute/{name[0].lower()}{name[1:]}:{name}")
    for name in (
        "FirewallPolicyRule",
        "FirewallPolicyWithRules",
        "NetworkFirewallPolicyRule",
        "NetworkFirewallPolicyWithRules",
        "OrganizationSecurityPolicyRule",
        "RegionNetworkFirewallPolicyRule",
        "RegionNetworkFirewallPolicyWithRules",
    )
) + tuple(
    Kind(group, f"{prefix}{name}FirewallPolicyRule")
    for group, prefix, names in (
        ("compute.cnrm.cloud.google.com", "Compute", ("", "Network")),
        ("compute.gcp.upbound.io", "", ("", "Network", "RegionNetwork")),
        ("compute.gcp.m.upbound.io", "", ("", "Network", "RegionNetwork")),
    )
    for name in names
)
NO_GRANTS = (Kind("gcp", "iam/denyPolicy:DenyPolicy"), Kind("gcp", "projects/iAMMemberRemove:IAMMemberRemove"))
"""Resources that list members and roles in order to deny or remove access."""
ALLOWED = Parameter("allowed", (), "Exempt objects, as NAME or NAMESPACE/NAME")
_object_rule = partial(Rule, level="production", parameters=(STACKS, ALLOWED))
google_rule = partial(
    Rule,
    level="production",
    parameters=(STACKS, Parameter("allowed", (), "Names of exempt resources")),
)


def _unless_allowed(check: Callable[[Subject], Iterable[Finding]]) -> Check:
    def run(subject: Subject, settings: ParameterValues) -> Iterable[Finding]:
        allowed = settings.texts("allowed")
        is_allowed = bool(allowed) and exposure.named((subject.namespace, subject.name), allowed)
        return () if is_allowed else check(subject)

    return run


def _service(subject: Subject) -> Iterable[Finding]:
    if subject.kind in CHARTS:
        return chart_values.services(subject.node.get("values"))
    if subject.kind == ENVOY_PROXY:
        return () if subject.partial else front_door.public_proxies(subject.spec)
    return exposure.service(subject.node, partial=subject.partial)


def _ingress(subject: Subject) -> Iterable[Finding]:
    is_chart = subject.kind in CHARTS
    return chart_values.ingresses(subject.node.get("values")) if is_chart else exposure.ingress(subject.node)


def _google(check: Callable[[Input], Iterable[Finding]]) -> Check:
    def run(subject: Subject, settings: ParameterValues) -> Iterable[Finding]:
        is_exempt = subject.kind in NO_GRANTS or subject.resource in settings.texts("allowed")
        return () if is_exempt else check(subject.node)

    return run


def _firewall(subject: Subject, settings: ParameterValues) -> Iterable[Finding]:
    return _google(firewall.rule if subject.kind in FIREWALLS else firewall.policy)(subject, settings)


def _pods(subject: Subject) -> Iterator[Finding]:
    if subject.kind == NAMESPACE:
        yield from exposure.namespace(subject.node)
    elif subject.kind == VOLUME:
        yield from exposure.volume(subject.node)
    else:
        # A map that is recognized as both pod and container has one security context, which would be reported twice.
        yield from dict.fromkeys(finding for pod in shaped_pods(subject) for finding in exposure.pod(pod))


def _binding(subject: Subject, settings: ParameterValues) -> Iterator[Finding]:
    if subject.kind == CLUSTER:
        yield from exposure.cluster(subject.node)
    elif subject.name not in settings.texts("allowed"):
        yield from (exposure.open_role if subject.kind == CLUSTER_ROLE else exposure.binding)(subject.node)


def _secrets(subject: Subject) -> Iterable[Finding]:
    if subject.kind in CHARTS:
        return chart_values.tokens(subject.node.get("values"))
    return (exposure.config_values if subject.kind == CONFIG_MAP else exposure.secret_values)(subject.node)


def _tokens(subject: Subject) -> Iterator[Finding]:
    for pod in () if subject.kind in KSERVE else all_pods(subject):
        yield from () if accelerator(pod) is not None else exposure.tokens(pod)


PUBLIC_SERVICE = _object_rule(
    name="public-service",
    title="Services have no public address",
    why="A Service of type LoadBalancer or NodePort, or with externalIPs, bypasses the Gateway with its TLS, "
    "routes and health checks. A model server answers anyone who can reach its port. Envoy Gateway makes a Service of "
    "type LoadBalancer unless an EnvoyProxy says otherwise. Chart values are checked by the shape that most charts "
    "share.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/concepts/service-load-balancer",),
    kinds=(SERVICE, ENVOY_PROXY, *CHARTS),
    check_object=_unless_allowed(_service),
)

FIREWALL_RULE = google_rule(
    name="public-firewall",
    title="Firewall rules limit their sources",
    why="A rule that allows 0.0.0.0/0, as one range or as several, exposes the nodes and everything else in the "
    "VPC that it applies to. Google's load balancers use only a few ranges.",
    sources=("https://cloud.google.com/firewall/docs/firewalls",),
    kinds=(*FIREWALLS, *FIREWALL_POLICIES),
    check_object=_firewall,
)

INGRESS = _object_rule(
    name="ingress",
    title="Traffic enters through Gateways, not through Ingress",
    why="An Ingress creates its own load balancer. It does not support InferencePools, and the rules about "
    "Gateways do not cover it.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/concepts/ingress",),
    kinds=(*INGRESSES, *CHARTS),
    check_object=_unless_allowed(_ingress),
    severity="medium",
)

IAM_MEMBER = google_rule(
    name="public-iam-member",
    title="Nothing on Google Cloud is granted to everyone",
    why="`allUsers` is anyone on the Internet, `allAuthenticatedUsers` anyone with a Google account, and `…/*` of "
    "a workload identity pool anyone whom its provider admits. The rule checks every field that can hold "
    "members, in all resources of the gcp package, of Config Connector and of Crossplane's Google provider.",
    sources=("https://cloud.google.com/iam/docs/overview#all-users",),
    kinds=(ANY_GOOGLE,),
    check_object=_google(iam.members),
    severity="critical",
)

IAM_ROLE = google_rule(
    name="basic-iam-role",
    title="No one is granted a basic role",
    why="`roles/owner` and `roles/editor` allow changing nearly everything in a project, including secrets; an "
    "account with `projectIamAdmin` or `securityAdmin` can grant itself Owner.",
    sources=("https://cloud.google.com/iam/docs/roles-overview#basic",),
    kinds=(ANY_GOOGLE,),
    check_object=_google(iam.roles),
)

BINDING = Rule(
    name="anonymous-binding",
    title="No role of a cluster is bound to everyone",
    why="On GKE `system:authenticated` is anyone with a Google account, `system:unauthenticated` and "
    "`system:anonymous` anyone who can reach the API server, and `system:serviceaccounts` every pod. Legacy "
    "ABAC and client certificates bypass RBAC, and anonymous requests need no identity.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/best-practices/rbac#default-roles-groups",),
    kinds=(*BINDINGS, CLUSTER_ROLE, CLUSTER),
    check_object=_binding,
    level="production",
    severity="critical",
    parameters=(STACKS, Parameter("allowed", (), "Names of exempt bindings")),
)

PRIVILEGED = _object_rule(
    name="privileged-pod",
    title="Pods have no access to their node",
    why="Privileged containers, host folders, host namespaces, host ports and strong capabilities give whoever "
    "compromises a pod control of its node, and so the tokens and weights of every pod there. The rule checks "
    "every kind with a pod template or a container, chart values, PersistentVolumes, and namespaces that admit "
    "such pods.",
    sources=("https://kubernetes.io/docs/concepts/security/pod-security-standards/",),
    kinds=(ANY_WORKLOAD, NAMESPACE, VOLUME),
    check_object=_unless_allowed(_pods),
)

SECRET_VALUE = _object_rule(
    name="plain-secret-value",
    title="Values of Kubernetes Secrets are also Pulumi secrets",
    why="A value that is not marked as secret appears in plain text in the stack's state, in previews and in logs; "
    "anyone who may read the namespace can read a value in a ConfigMap. Tokens among chart values are "
    "recognized by their shape.",
    sources=("https://www.pulumi.com/docs/iac/concepts/secrets/",),
    kinds=(SECRET, CONFIG_MAP, *CHARTS),
    check_object=_unless_allowed(_secrets),
)

TOKEN = _object_rule(
    name="plain-token",
    title="No pod has a token in plain text",
    why="Everyone who may read pods reads it, and the stack's state contains it. Tokens are recognized by their shape, "
    "in pods of every kind; `plain-secret` is stricter with those of models.",
    sources=("https://kubernetes.io/docs/concepts/configuration/secret/",),
    kinds=WORKLOADS,
    check_object=_unless_allowed(_tokens),
    severity="critical",
)
