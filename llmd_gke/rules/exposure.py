"""Rules about what is open to more people than it should be: addresses, roles, host access, readable secrets.

Sources: https://kubernetes.io/docs/concepts/security/pod-security-standards/ (host access),
https://cloud.google.com/iam/docs/overview (allUsers, allAuthenticatedUsers, basic roles),
https://kubernetes.io/docs/reference/access-authn-authz/rbac/ (groups that everybody is in).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from llmd_gke.rules import addresses, pods, secret_texts
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Node, SecretText, Unknown, Value

INTERNAL_ANNOTATIONS = ("networking.gke.io/load-balancer-type", "cloud.google.com/load-balancer-type")
INTERNAL_CLASS = "networking.gke.io/l4-regional-internal"
INTERNAL_INGRESS = "gce-internal"
INGRESS_ANNOTATION = "kubernetes.io/ingress.class"

EVERYBODY = re.compile(
    r"\ball(?:authenticated)?users\b|\bpublicread(?:write)?\b|principalset://goog/public:all"
    r"|work(?:loadidentity|force)pools/[^/\s]+/\*",
    re.IGNORECASE,
)
MEMBER_KEY = re.compile(r"member|entit|group|principal|policydata|access|acl", re.IGNORECASE)
BASIC_ROLE = re.compile(
    r"\broles/(?:owner|editor|admin|writer|resourcemanager\.(?:project|folder)IamAdmin"
    r"|resourcemanager\.(?:organization|folder)Admin|iam\.securityAdmin)(?![\w.])",
    re.IGNORECASE,
)
"""Basic roles, and those that can grant them to whoever holds them."""
ROLE_KEY = re.compile(r"role|policydata", re.IGNORECASE)

OPEN_SUBJECTS: Mapping[str, str] = {
    "system:unauthenticated": "everybody who reaches the API server",
    "system:anonymous": "everybody who reaches the API server",
    "system:authenticated": "on GKE everybody with a Google account",
    "system:serviceaccounts": "every pod of the cluster",
}
STRONG_CAPABILITIES = frozenset(
    {
        "ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "NET_ADMIN", "DAC_READ_SEARCH", "BPF", "SYS_BOOT",
        "PERFMON", "MAC_ADMIN", "MAC_OVERRIDE", "SYSLOG",
    }
)  # fmt: skip
PROFILES = ("seccompProfile", "appArmorProfile")
PRIVILEGED_LABEL = "pod-security.kubernetes.io/enforce"


def service(node: Node) -> Iterator[Finding]:
    """A Service has no address outside the cluster, or an internal one, or one for named ranges only."""
    spec = node.get("spec")
    kind = spec.get("type").text()
    annotations = node.get("metadata", "annotations")
    # GKE goes by the class, else by the first annotation that is there, and knows these two spellings only.
    written = next((text for key in INTERNAL_ANNOTATIONS if (text := annotations.get(key).text()) is not None), "")
    by_class = spec.get("loadBalancerClass").text()
    internal = by_class == INTERNAL_CLASS if by_class else written in ("Internal", "internal")
    ranges = [text for entry in spec.get("loadBalancerSourceRanges").each() if (text := entry.text())]
    limited = bool(ranges) and not addresses.everybody(ranges)
    if (kind == "LoadBalancer" and not internal and not limited) or (kind is None and ranges and not limited):
        yield _exposed(
            "public-service",
            "a Service of type LoadBalancer: it gets a public address, past the Gateway with its TLS and its routes",
            "ClusterIP, an internal load balancer, or loadBalancerSourceRanges that name somebody",
            f"serve it by the Gateway, or add the annotation {INTERNAL_ANNOTATIONS[0]}: Internal",
        )
    if kind == "NodePort":
        yield _exposed(
            "public-service", "spec.type NodePort: a port of every node is open", "ClusterIP", "serve it by the Gateway"
        )
    if list(spec.get("externalIPs").each()):
        yield _exposed(
            "public-service",
            "spec.externalIPs: whoever makes the Service may take traffic of any address (CVE-2020-8554)",
            "no externalIPs",
            "serve it by the Gateway",
        )


def ingress(node: Node) -> Iterator[Finding]:
    """No Ingress: it makes a load balancer of its own, which none of the rules about Gateways sees."""
    annotation = node.get("metadata", "annotations", INGRESS_ANNOTATION)
    name = node.get("spec", "ingressClassName") if annotation.value is None else annotation  # GKE's order
    if name.text() != INTERNAL_INGRESS and not isinstance(name.value, Unknown):
        yield _exposed(
            "ingress",
            "an Ingress makes a public load balancer of its own, past the Gateway",
            f"an HTTPRoute of the Gateway, or ingressClassName {INTERNAL_INGRESS}",
            "make an HTTPRoute",
        )


def _texts(node: Node, wanted: re.Pattern[str], *, inside: bool = False) -> Iterator[Node]:
    """The texts below keys that a pattern finds."""
    if isinstance(node.value, Mapping):
        for key, item in node.pairs():
            yield from _texts(item, wanted, inside=inside or wanted.search(key) is not None)
    elif isinstance(node.value, Sequence) and not isinstance(node.value, str):
        for item in node.each():
            yield from _texts(item, wanted, inside=inside)
    elif inside and isinstance(node.value, str | Unknown):
        yield node


def _decoded(text: str) -> str:
    """A text that is JSON, with its escaped letters written out."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False) if text.lstrip().startswith(("{", "[")) else text
    except ValueError:
        return text


def iam_members(node: Node) -> Iterator[Finding]:
    """Nothing on Google Cloud is granted to everybody, in whatever field members can be written.

    A member that is not known yet comes from another resource, so it is an account, and not everybody.
    """
    if isinstance(node.value, Mapping) and node.value.get("invokerIamDisabled") is True:
        yield _exposed(
            "public-iam-member",
            "invokerIamDisabled is true: everybody may call the service",
            "false",
            "leave it out, and name who may call",
        )
    for place in _texts(node, MEMBER_KEY):
        found = EVERYBODY.search(_decoded(place.value)) if isinstance(place.value, str) else None
        if found:
            yield _exposed(
                "public-iam-member",
                f"{place.path} grants access to {found[0]}: everybody on the Internet, or everybody of a pool",
                "named accounts, groups and service accounts",
                "name who needs it",
            )


def iam_roles(node: Node) -> Iterator[Finding]:
    """Nobody gets a basic role, which may change nearly everything, or a role that can grant one."""
    for place in _texts(node, ROLE_KEY):
        found = BASIC_ROLE.search(_decoded(place.text() or ""))
        if found:
            yield _exposed(
                "basic-iam-role",
                f"{place.path} is {found[0]}, which may change nearly everything in the project, or grant itself that",
                "predefined or custom roles",
                "grant the roles that the work needs",
            )


def binding(node: Node) -> Iterator[Finding]:
    """No role of the cluster is bound to everybody."""
    for subject in node.get("subjects").each():
        name = subject.get("name").text() or ""
        who = OPEN_SUBJECTS.get(name)
        if who:
            yield _exposed(
                "anonymous-binding",
                f"{subject.path} is {name}, which means {who}",
                "named users, groups and service accounts",
                "name who needs it",
            )


def cluster(node: Node) -> Iterator[Finding]:
    """A cluster does not let everybody in by a switch."""
    switches = (
        "enableLegacyAbac",
        "masterAuth.clientCertificateConfig.issueClientCertificate",
        "rbacBindingConfig.enableInsecureBindingSystemUnauthenticated",
        "rbacBindingConfig.enableInsecureBindingSystemAuthenticated",
    )
    for path in switches:
        if node.get(*path.split(".")).flag() is True:
            yield _exposed(
                "anonymous-binding", f"{path} is true: it undoes what RBAC restricts", "false", f"leave {path} out"
            )


def pod(spec: Node) -> Iterator[Finding]:
    """A pod keeps to its own namespaces, files and network."""
    for key in pods.HOST_NAMESPACES:
        if spec.get(key).flag() is True:
            yield _host(f"{_at(spec)}{key} is true", f"leave {key} out")
    for volume in spec.get("volumes").each():
        if volume.get("hostPath").value is not None:
            yield _host(f"{volume.path}.hostPath is a folder of the node", "use emptyDir, a claim or a bucket")
    if spec.get("securityContext", "windowsOptions", "hostProcess").flag() is True:
        yield _host(f"{_at(spec)}securityContext.windowsOptions.hostProcess is true", "leave it out")
    for profile in PROFILES:
        if spec.get("securityContext", profile, "type").text() == "Unconfined":
            yield _host(f"{_at(spec)}securityContext.{profile} is Unconfined", "leave it out, or use RuntimeDefault")
    for container in pods.containers(spec):
        yield from _container(container)


def _at(node: Node) -> str:
    return f"{node.path}." if node.path else ""


def _container(container: Node) -> Iterator[Finding]:
    context = container.get("securityContext")
    if context.get("privileged").flag() is True:
        yield _host(f"{context.path}.privileged is true", "leave it out: TPU pods need none on GKE 1.28 and later")
    for profile in PROFILES:
        if context.get(profile, "type").text() == "Unconfined":
            yield _host(f"{context.path}.{profile} is Unconfined", "leave it out, or use RuntimeDefault")
    if context.get("procMount").text() == "Unmasked":
        yield _host(f"{context.path}.procMount is Unmasked", "leave it out")
    if context.get("windowsOptions", "hostProcess").flag() is True:
        yield _host(f"{context.path}.windowsOptions.hostProcess is true", "leave it out")
    for added in context.get("capabilities", "add").each():
        name = (added.text() or "").upper().removeprefix("CAP_")
        if name in STRONG_CAPABILITIES:
            yield _host(f"{added.path} is {name}, which is as good as root on the node", "add what is needed only")
    for port in container.get("ports").each():
        if (port.get("hostPort").integer() or 0) > 0:
            yield _host(f"{port.path}.hostPort opens a port of the node", "leave hostPort out")


def _host(problem: str, fix: str) -> Finding:
    allowed = "pods without access to their node"
    return _exposed("privileged-pod", f"{problem}: who takes over the pod takes over its node", allowed, fix)


def volume(node: Node) -> Iterator[Finding]:
    """A PersistentVolume is no folder of a node."""
    for key in ("hostPath", "local"):
        if node.get("spec", key).value is not None:
            yield _host(f"spec.{key} is a folder of the node", "use a disk, a claim or a bucket")


def namespace(node: Node) -> Iterator[Finding]:
    """A namespace does not admit privileged pods."""
    if node.get("metadata", "labels", PRIVILEGED_LABEL).text() == "privileged":
        yield _host(f"label {PRIVILEGED_LABEL} is privileged: the namespace admits such pods", "use baseline")


def secret_values(node: Node) -> Iterator[Finding]:
    """The values of a Kubernetes Secret are secrets of Pulumi, too: else they are in the state in plain text."""
    for key in ("data", "stringData"):
        for name, value in node.get(key).pairs():
            if value.text() and not isinstance(value.value, SecretText):
                yield _plain(f"{key}.{name} is not marked as secret: it is in the state in plain text")


def config_values(node: Node) -> Iterator[Finding]:
    """A ConfigMap holds no tokens and passwords."""
    for key in ("data", "binaryData"):
        for name, value in node.get(key).pairs():
            if _is_secret(name, value.value):
                yield _plain(f"{key}.{name} of a ConfigMap looks like a token or a password")


def _is_secret(name: str, value: Value) -> bool:
    if not isinstance(value, str) or not value:
        return False
    if secret_texts.is_name(name.replace("-", "_").replace(".", "_")) or secret_texts.has_shape(value):
        return True
    return any(secret_texts.assigned(value)) or any(secret_texts.configured(value))


def _plain(problem: str) -> Finding:
    return _exposed(
        "plain-secret-value",
        problem,
        "values from pulumi.Config().require_secret or pulumi.Output.secret, in a Secret",
        "mark the value as secret, and put it into a Secret",
    )


def _exposed(rule: str, problem: str, allowed: str, fix: str) -> Finding:
    return Finding(rule, problem, allowed=allowed, fix=fix)


def firewall(node: Node) -> Iterator[Finding]:
    """A firewall rule that allows traffic in names who may come."""
    allows = list(node.get("allows").each())
    if not allows or node.get("direction").text() == "EGRESS" or node.get("disabled").flag() is True:
        return
    ranges = [text for entry in node.get("sourceRanges").each() if (text := entry.text())]
    limited = [key for key in ("sourceRanges", "sourceTags", "sourceServiceAccounts") if node.get(key).value]
    wide = addresses.everybody(ranges)
    if wide or not limited:
        yield _exposed(
            "public-firewall",
            f"sourceRanges {', '.join(wide) or 'is missing, which means everybody'}: the Internet may reach the VPC",
            "ranges, tags or service accounts that name somebody",
            "name who may come: Google's load balancers need 130.211.0.0/22 and 35.191.0.0/16 only",
        )


def firewall_policy(node: Node) -> Iterator[Finding]:
    """A rule of a firewall policy that lets traffic in names who may come: the same as :func:`firewall`."""
    rules = [node] if node.get("match").value is not None else list(node.get("rules").each())
    for rule in rules:
        action, direction = (rule.get("action").text() or "").lower(), rule.get("direction").text()
        if not action.startswith(("allow", "apply")) or direction == "EGRESS" or rule.get("disabled").flag() is True:
            continue
        match = rule.get("match")
        ranges = [text for entry in match.get("srcIpRanges").each() if (text := entry.text())]
        scope = match.get("srcNetworkScope").text() or match.get("srcNetworkType").text()
        scopes = ("srcNetworkScope", "srcNetworkType")
        sources = [key for key, value in match.pairs() if key.startswith("src") and value.value and key not in scopes]
        wide = addresses.everybody(ranges)
        if (wide or not sources) and scope in (None, "INTERNET"):
            yield _exposed(
                "public-firewall",
                f"{match.path}.srcIpRanges {', '.join(wide) or 'is missing, which means everybody'}: the Internet may "
                "reach the VPC",
                "ranges, tags or groups of addresses that name somebody",
                "name who may come: Google's load balancers need 130.211.0.0/22 and 35.191.0.0/16 only",
            )


def named(label: tuple[str | None, str], allowed: Collection[str]) -> bool:
    """Whether an object, given by namespace and name, is in a list of ``NAME`` or ``NAMESPACE/NAME``."""
    place, name = label
    return name in allowed or (place is not None and f"{place}/{name}" in allowed)
