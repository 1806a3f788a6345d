"""Rules about what a cluster exposes too widely: addresses, roles, host access, readable secrets.

Roles on Google Cloud are in :mod:`llmd_gke.rules.iam`, firewalls in :mod:`llmd_gke.rules.firewall`.

Sources: https://kubernetes.io/docs/concepts/security/pod-security-standards/ (host access),
https://kubernetes.io/docs/reference/access-authn-authz/rbac/ (groups that everybody is in).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from llmd_gke.rules import addresses, pod_shapes, secret_texts
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, SecretText, Unknown, Value

INTERNAL_ANNOTATIONS = ("networking.gke.io/load-balancer-type", "cloud.google.com/load-balancer-type")
INTERNAL_CLASS = "networking.gke.io/l4-regional-internal"
INTERNAL_INGRESS = "gce-internal"
INGRESS_ANNOTATION = "kubernetes.io/ingress.class"

OPEN_SUBJECTS: Mapping[str, str] = {
    "system:unauthenticated": "anyone who can reach the API server",
    "system:anonymous": "anyone who can reach the API server",
    "system:authenticated": "on GKE, anyone with a Google account",
    "system:serviceaccounts": "every pod in the cluster",
}
OPEN_ROLES = ("system:basic-user", "system:discovery", "system:public-info-viewer")
"""Roles that are bound to everyone by default.

https://kubernetes.io/docs/reference/access-authn-authz/rbac/#discovery-roles
"""
STRONG_CAPABILITIES = frozenset(
    {
        "ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "NET_ADMIN", "DAC_READ_SEARCH", "BPF", "SYS_BOOT",
        "PERFMON", "MAC_ADMIN", "MAC_OVERRIDE", "SYSLOG",
    }
)  # fmt: skip
PROFILES = ("seccompProfile", "appArmorProfile")
PRIVILEGED_LABEL = "pod-security.kubernetes.io/enforce"


def service(node: Input, *, partial: bool = False) -> Iterator[Finding]:
    """A Service has no address outside the cluster, or an internal one, or one limited to given ranges.

    ``partial``: a patch, whose Service may be of any type. A whole Service without a type is a ClusterIP.
    """
    spec = node.get("spec")
    kind = spec.get("type").text()
    annotations = node.get("metadata", "annotations")
    # GKE uses the class, otherwise the first of the annotations; it accepts only these two spellings.
    written = next((text for key in INTERNAL_ANNOTATIONS if (text := annotations.get(key).text()) is not None), "")
    by_class = spec.get("loadBalancerClass").text()
    internal = by_class == INTERNAL_CLASS if by_class else written in ("Internal", "internal")
    ranges = [text for entry in spec.get("loadBalancerSourceRanges").each() if (text := entry.text())]
    limited = bool(ranges) and not addresses.not_naming(ranges)
    # A patch may contain only the field that exposes the existing Service.
    unchanged = partial and spec.get("type").value is None
    opened = unchanged and ((ranges and not limited) or ((by_class or written) and not internal))
    if opened or (kind == "LoadBalancer" and not internal and not limited):
        yield Finding(
            "public-service",
            "a Service of type LoadBalancer gets a public address, which bypasses the Gateway, its TLS and its routes",
            "ClusterIP, an internal load balancer, or loadBalancerSourceRanges limited to your clients",
            f"serve it through the Gateway, or add the annotation {INTERNAL_ANNOTATIONS[0]}: Internal",
        )
    fix = "serve it through the Gateway"
    if kind == "NodePort":
        yield Finding("public-service", "spec.type NodePort opens a port on every node", "ClusterIP", fix)
    if list(spec.get("externalIPs").each()):
        problem = "spec.externalIPs: whoever creates the Service can intercept traffic to any address (CVE-2020-8554)"
        yield Finding("public-service", problem, "no externalIPs", fix)


def ingress(node: Input) -> Iterator[Finding]:
    """No Ingress: it creates its own load balancer, which the rules about Gateways do not cover."""
    annotation = node.get("metadata", "annotations", INGRESS_ANNOTATION)
    name = node.get("spec", "ingressClassName") if annotation.value is None else annotation  # in GKE's order
    if name.text() != INTERNAL_INGRESS and not isinstance(name.value, Unknown):
        yield Finding(
            "ingress",
            "an Ingress creates a public load balancer of its own, which bypasses the Gateway",
            f"an HTTPRoute attached to the Gateway, or ingressClassName {INTERNAL_INGRESS}",
            "replace it with an HTTPRoute",
        )


def open_role(node: Input) -> Iterator[Finding]:
    """No rules are added to a role that the API server itself binds to everyone."""
    name = node.get("metadata", "name").text()
    if name in OPEN_ROLES and (list(node.get("rules").each()) or node.get("aggregationRule").value is not None):
        yield Finding(
            "anonymous-binding",
            f"ClusterRole {name} is bound to everyone by the API server: everyone gets what it allows",
            "roles with other names, bound to specific users, groups or service accounts",
            "create a role of your own",
        )


def binding(node: Input) -> Iterator[Finding]:
    """No role of the cluster is bound to everyone."""
    for subject in node.get("subjects").each():
        name = subject.get("name").text() or ""
        who = OPEN_SUBJECTS.get(name)
        if who:
            yield Finding(
                "anonymous-binding",
                f"{subject.path} is {name}, which means {who}",
                "named users, groups and service accounts",
                "list only the accounts that need it",
            )


def cluster(node: Input) -> Iterator[Finding]:
    """No option of a cluster admits everyone."""
    switches = (
        "enableLegacyAbac",
        "masterAuth.clientCertificateConfig.issueClientCertificate",
        "rbacBindingConfig.enableInsecureBindingSystemUnauthenticated",
        "rbacBindingConfig.enableInsecureBindingSystemAuthenticated",
    )
    for path in switches:
        if node.get(*path.split(".")).boolean() is True:
            yield Finding(
                "anonymous-binding", f"{path} is true: it bypasses the restrictions of RBAC", "false", f"remove {path}"
            )
    mode = node.get("anonymousAuthenticationConfig", "mode")
    if mode.text() == "ENABLED":
        yield Finding(
            "anonymous-binding", f"{mode.path} is ENABLED: requests need no identity", "LIMITED", "set it to LIMITED"
        )


def pod(spec: Input) -> Iterator[Finding]:
    """A pod uses only its own namespaces, files and network."""
    for key in pod_shapes.HOST_NAMESPACES:
        if _is_on(spec.get(key)):
            yield _host(f"{_at(spec)}{key} is true", f"remove {key}")
    for folder in pod_shapes.node_folders(spec):
        yield _host(f"{folder.path}.hostPath mounts a folder of the node", "use emptyDir, a claim or a bucket")
    yield from _context(spec.get("securityContext"))
    for container in pod_shapes.containers(spec):
        for context in pod_shapes.contexts(container):
            yield from _context(context)
        for port in container.get("ports").each():
            if (port.get("hostPort").integer() or 0) > 0:
                yield _host(f"{port.path}.hostPort opens a port on the node", "remove hostPort")


def _at(node: Input) -> str:
    return f"{node.path}." if node.path else ""


def _is_on(switch: Input) -> bool:
    """Whether a switch is on. Templates of charts accept the text ``true``, too."""
    return switch.value == "true" or switch.boolean() is True


def _context(context: Input) -> Iterator[Finding]:
    if _is_on(context.get("privileged")):
        yield _host(f"{context.path}.privileged is true", "remove it: on GKE 1.28 and later TPU pods do not need it")
    for profile in PROFILES:
        if context.get(profile, "type").text() == "Unconfined":
            yield _host(f"{context.path}.{profile} is Unconfined", "remove it, or use RuntimeDefault")
    if context.get("procMount").text() == "Unmasked":
        yield _host(f"{context.path}.procMount is Unmasked", "remove it")
    if _is_on(context.get("windowsOptions", "hostProcess")):
        yield _host(f"{context.path}.windowsOptions.hostProcess is true", "remove it")
    for added in context.get("capabilities", "add").each():
        name = (added.text() or "").upper().removeprefix("CAP_")
        if name in STRONG_CAPABILITIES:
            problem = f"{added.path} is {name}, which is equivalent to root on the node"
            yield _host(problem, "add only the capabilities that are needed")


def _host(problem: str, fix: str) -> Finding:
    allowed = "pods without access to their node"
    return Finding("privileged-pod", f"{problem}: whoever compromises the pod controls its node", allowed, fix)


def volume(node: Input) -> Iterator[Finding]:
    """A PersistentVolume is not a folder of a node."""
    for key in ("hostPath", "local"):
        if node.get("spec", key).value is not None:
            yield _host(f"spec.{key} mounts a folder of the node", "use a disk, a claim or a bucket")


def namespace(node: Input) -> Iterator[Finding]:
    """A namespace does not admit privileged pods."""
    if node.get("metadata", "labels", PRIVILEGED_LABEL).text() == "privileged":
        yield _host(f"label {PRIVILEGED_LABEL} is privileged: the namespace admits privileged pods", "use baseline")


def tokens(spec: Input) -> Iterator[Finding]:
    """No text of a pod looks like a token: everyone who may read pods could read it. It is not repeated."""
    for container in pod_shapes.containers(spec):
        words = [word for key in ("command", "args") for word in container.get(key).each()]
        for text in (*words, *(variable.get("value") for variable in container.get("env").each())):
            if isinstance(text.value, str) and secret_texts.has_shape(text.value):
                yield Finding(
                    "plain-token",
                    f"{text.path} looks like a token or a password: the pod and the stack's state show it",
                    "valueFrom.secretKeyRef",
                    "store it in a Secret and refer to it with valueFrom.secretKeyRef",
                )


def secret_values(node: Input) -> Iterator[Finding]:
    """The values of a Kubernetes Secret are also Pulumi secrets; otherwise the state stores them in plain text."""
    for key in ("data", "stringData"):
        for name, value in node.get(key).entries():
            text = value.text()
            if text and not isinstance(text, SecretText) and not _is_filled_in(name, text):
                yield plain(f"{key}.{name} is not marked as secret: the state stores it in plain text")


def _is_filled_in(name: str, text: str) -> bool:
    """Whether a text is a template whose secrets come from elsewhere."""
    rest = secret_texts.without_placeholders(text)
    if rest == text:
        return False
    return not rest.strip() or (secret_texts.FORM.search(text) is not None and not _is_secret(name, rest))


def config_values(node: Input) -> Iterator[Finding]:
    """A ConfigMap contains no tokens or passwords."""
    for key in ("data", "binaryData"):
        for name, value in node.get(key).entries():
            if _is_secret(name, value.value):
                yield plain(f"{key}.{name} of a ConfigMap looks like a token or a password")


def _is_secret(name: str, value: Value) -> bool:
    if not isinstance(value, str) or not value:
        return False
    if secret_texts.is_name(name.replace("-", "_").replace(".", "_")) or secret_texts.has_shape(value):
        return True
    return any(secret_texts.assigned(value)) or any(secret_texts.configured(value))


def plain(problem: str) -> Finding:
    """A finding about a secret in plain text."""
    return Finding(
        "plain-secret-value",
        problem,
        "a Kubernetes Secret whose values come from pulumi.Config().require_secret or pulumi.Output.secret",
        "mark the value as secret, and store it in a Secret",
    )


def named(label: tuple[str | None, str], allowed: Collection[str]) -> bool:
    """Whether an object, given by namespace and name, is in a list of ``NAME`` or ``NAMESPACE/NAME``."""
    owner, name = label
    return name in allowed or (owner is not None and f"{owner}/{name}" in allowed)
