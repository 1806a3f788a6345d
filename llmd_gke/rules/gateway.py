"""Rules about Gateways and the policies that GKE attaches to their backends."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from llmd_gke.gateways import gke
from llmd_gke.gateways.gateway import INFERENCE_POOL_GROUP
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown

GENERATED_SERVICE = re.compile(r".+-ips?-(?=[a-f]*\d)[0-9a-f]{4,}|gke(gw|mcs|mci)\d*-.+|.*[0-9a-f]{32}(-[-a-z0-9]+)?")
"""Services that are generated with a hash in their names, which changes: GKE's ``POOL-ip-HASH`` or ``POOL-ips-HASH``
for an InferencePool and ``gkegw1-…``; and KServe's, if a name is so long that it is truncated (knative
``kmeta.ChildName``: 32 hexadecimal digits).
"""


CERTIFICATE_RULE = "listener-certificate"
CERTIFICATE_MAP = "networking.gke.io/certmap"
CERTIFICATE_SOURCES = (
    f"certificateRefs to Secrets, or one of the options {gke.CERTIFICATE_MANAGER_OPTION} and {gke.PRE_SHARED_OPTION}"
)
"""Where a listener of the regional classes takes certificates from
(https://cloud.google.com/kubernetes-engine/docs/how-to/secure-gateway)."""
FOREIGN_ANNOTATIONS: Mapping[str, str] = {
    r"networking\.gke\.io/internal-load-balancer-allow-global-access": "set allowGlobalAccess in a GCPGatewayPolicy",
    r"networking\.gke\.io/internal-load-balancer-subnet": "remove it: the proxy-only subnet of the region is used",
    r"(networking\.gke\.io|cloud\.google\.com)/load-balancer-type": f"use the class {gke.REGIONAL_INTERNAL}",
    r"(kubernetes\.io/ingress|ingress\.gcp\.kubernetes\.io|ingress\.kubernetes\.io|nginx\.ingress).*": (
        "use addresses, listeners and routes of the Gateway"
    ),
    r"networking\.gke\.io/(managed-certificates|v1beta1\.FrontendConfig)": (
        "use the listener's tls, a GCPGatewayPolicy for the SSL policy, and a redirect in a route"
    ),
    r"cloud\.google\.com/(backend-config|neg|app-protocols)": "attach a GCPBackendPolicy or HealthCheckPolicy",
}
"""Annotations of Services and Ingresses that people put on Gateways, as regular expressions, and what to use there."""

ENCRYPTED_PROTOCOLS = frozenset({"HTTPS", "TLS"})
"""All others may be plain: HTTP, TCP, UDP, and vendors' own protocols."""
DOMAIN = re.compile(r"(?=.{4,253}$)([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
RESOURCE_NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


def domain(value: str) -> Iterator[Finding]:
    """A host name that is valid in certificates and DNS records: lower case, at least one dot, no wildcard, no port."""
    if not DOMAIN.fullmatch(value):
        allowed = "lower-case labels separated by dots, without scheme, port, path or wildcard"
        yield Finding("gateway-domain", f"{value!r} is not a host name", allowed, "for example llm.example.com")


def certificates(sources: Mapping[str, Collection[str]]) -> Iterator[Finding]:
    """Exactly one source of certificates, and names that can exist. ``sources`` maps a setting to its names."""
    used = [key for key, names in sources.items() if names]
    if len(used) != 1:
        problem = "tls names no certificate" if not used else f"{' and '.join(used)} exclude each other"
        fix = "set one certificate source, or remove tls"
        yield Finding("gateway-certificate", problem, f"one of {', '.join(sources)}", fix)
    for key in used:
        for name in sources[key]:
            if not RESOURCE_NAME.fullmatch(name):
                hint = " (certificate maps work with global gateways only)" if "certificateMaps/" in name else ""
                yield Finding(
                    "gateway-certificate",
                    f"{name!r} is not the name of a certificate{hint}",
                    allowed="the bare name of a certificate in the gateway's region, without project or location",
                    fix=f"for example {name.rstrip('/').rsplit('/', 1)[-1].lower() or 'llm'}",
                )
        if len(sources[key]) > gke.CERTIFICATES_PER_LISTENER:
            problem, allowed = (
                f"{key} names {len(sources[key])} certificates",
                f"at most {gke.CERTIFICATES_PER_LISTENER}",
            )
            yield Finding("gateway-certificate", problem, allowed, "use one certificate with several names")


def gateway_class(name: Input, allowed: Collection[str]) -> Iterator[Finding]:
    """The class is one of GKE's that support an InferencePool, and ``allowed``. Classes of others are not checked."""
    value = name.text()
    if value is None or not value.startswith(gke.CLASS_PREFIX) or value in allowed:
        return
    if value in gke.INFERENCE_POOL_CLASSES:
        problem = f"GatewayClass {value} is not among the classes that the policy's configuration allows"
    else:
        problem = f"GatewayClass {value} cannot carry an InferencePool: its load balancer answers 503 forever"
    ways = {gke.REGIONAL_EXTERNAL: "for the Internet", gke.REGIONAL_INTERNAL: "inside the VPC"}
    fixes = [f"{name} {where}" for name, where in ways.items() if name in allowed]
    yield Finding(
        "gateway-class",
        problem,
        allowed=", ".join(sorted(allowed)),
        fix=f"use {', '.join(fixes)}"
        if fixes
        else "use an allowed one, or allow the class in the policy's configuration",
    )


def may_face_the_internet(name: Input, *, partial: bool) -> bool:
    """Whether a Gateway of that class may have a public address: all but GKE's internal ones may.

    ``partial``: a patch, or listeners added to a Gateway, which need not name the class.
    """
    value = name.text()
    if value is None:
        return partial and name.value is None
    return not (value.startswith(gke.CLASS_PREFIX) and "rilb" in value.split("-"))


def plain_http(spec: Input, *, partial: bool = False) -> Iterator[Finding]:
    """No HTTP listener serves models: in addition to HTTPS one may exist for redirects, closed to other namespaces.

    The Gateway API's default for ``allowedRoutes.namespaces.from`` is ``Same``, so a listener without it is closed,
    too. In a patch (``partial``) only fields that are present count.
    """
    listeners = list(spec.get("listeners").each())
    protocols = [listener.get("protocol") for listener in listeners]
    encrypted = any(protocol.text() == "HTTPS" or isinstance(protocol.value, Unknown) for protocol in protocols)
    encrypted = encrypted or partial
    for listener, protocol in zip(listeners, protocols, strict=True):
        if protocol.text() is None or protocol.text() in ENCRYPTED_PROTOCOLS:
            continue
        admitted = listener.get("allowedRoutes", "namespaces", "from")
        closed = admitted.text() == "Same" or (not partial and not admitted.present())
        if encrypted and closed:
            continue
        problem = "admits routes of other namespaces: their" if encrypted else "has no HTTPS listener beside it:"
        yield Finding(
            "production-https",
            f"{listener.path} {problem} prompts, answers and API keys would cross the Internet in plain text",
            allowed="an HTTPS listener; in addition, an HTTP listener only for redirects "
            "(allowedRoutes.namespaces.from: Same)",
            fix="limit the HTTP listener to from: Same, or remove it"
            if encrypted
            else f"add a listener with protocol HTTPS and a certificate, or use {gke.REGIONAL_INTERNAL}",
        )


def listener_certificates(gateway: Input, *, partial: bool = False) -> Iterator[Finding]:
    """Every HTTPS listener of a class of GKE has certificates of one source that the class takes. ``partial``: a patch,
    beside which the Gateway may have them.
    """
    name = gateway.get("spec", "gatewayClassName").text() or ""
    if not name.startswith(gke.CLASS_PREFIX):
        return
    mapped = gateway.get("metadata", "annotations", CERTIFICATE_MAP)
    takes_maps = "global" in name or "gxlb" in name
    if mapped.value is not None and not takes_maps:
        yield _certificate(f"{mapped.path}: certificate maps belong to global classes, and {name} is regional")
    for listener in gateway.get("spec", "listeners").each():
        if listener.get("protocol").text() == "HTTPS":
            yield from _certificates_of(listener, mapped=partial or (takes_maps and mapped.value is not None))


def _certificates_of(listener: Input, *, mapped: bool) -> Iterator[Finding]:
    tls = listener.get("tls")
    references, options = tls.get("certificateRefs"), tls.get("options")
    if tls.get("mode").text() not in (None, "Terminate"):
        yield _certificate(f"{tls.path}.mode: GKE ends TLS itself", "Terminate")
    named = [options.get(key) for key in (gke.CERTIFICATE_MANAGER_OPTION, gke.PRE_SHARED_OPTION)]
    used = [node for node in named if node.value is not None]
    secrets = list(references.each())
    unknown = any(isinstance(node.value, Unknown) for node in (tls, references, options))
    if not secrets and not used and not unknown and not mapped:
        yield _certificate(f"{listener.path} has no certificate")
    if len(used) + bool(secrets) > 1:
        yield _certificate(f"{tls.path} has certificates of several sources, which exclude each other")
    for node in used:
        names = [part.strip() for part in (node.text() or "").split(",")]
        for finding in certificates({node.path: names}) if node.text() is not None else ():
            yield replace(finding, rule=CERTIFICATE_RULE, problem=f"{node.path}: {finding.problem}")
    for secret in secrets:
        group, kind = secret.get("group"), secret.get("kind")
        if group.text():
            yield _certificate(f"{group.path} is {group.text()}, but the group of Secrets is empty", "''")
        if kind.text() not in (None, "Secret"):
            yield _certificate(f"{kind.path} is {kind.text()}", "Secret")


def _certificate(problem: str, allowed: str = "") -> Finding:
    allowed = allowed or CERTIFICATE_SOURCES
    return Finding(CERTIFICATE_RULE, f"{problem} (GWCER105)", allowed=allowed, fix=f"use {allowed}")


def foreign_annotations(gateway: Input) -> Iterator[Finding]:
    """A Gateway of GKE has no annotation of Services or Ingresses, which has no effect on it."""
    if (gateway.get("spec", "gatewayClassName").text() or "").startswith(gke.CLASS_PREFIX):
        for name, node in gateway.get("metadata", "annotations").entries():
            instead = next((fix for pattern, fix in FOREIGN_ANNOTATIONS.items() if re.fullmatch(pattern, name)), None)
            if instead is not None:
                yield Finding(
                    "gateway-unclaimed-features",
                    f"{node.path} is an annotation of Services or Ingresses: it has no effect on a Gateway",
                    fix=instead,
                )


def unclaimed_gateway_features(spec: Input) -> Iterator[Finding]:
    """A Gateway of GKE uses nothing that GKE's conformance reports list as unsupported."""
    name = spec.get("gatewayClassName").text()
    if name is not None and not name.startswith(gke.CLASS_PREFIX):
        return
    if spec.get("infrastructure").present():
        yield _unclaimed("spec.infrastructure", "GatewayInfrastructurePropagation", "remove it")
    for address in spec.get("addresses").each():
        if address.get("value").value is None:
            yield _unclaimed(
                f"{address.path}.value", "GatewayAddressEmpty", "set a reserved address, or remove the address"
            )


def _unclaimed(path: str, feature: str, fix: str) -> Finding:
    return Finding("gateway-unclaimed-features", f"{path}: GKE lists {feature} as not supported", fix=fix)


def targets(node: Input) -> Iterator[Input]:
    """The references of an object of the Gateway API, by their shape: targets of policies, and backends."""
    yield from targets_in(node.get("spec"))


def targets_in(spec: Input) -> Iterator[Input]:
    """As :func:`targets`, for a ``spec`` alone, such as that of a service's inline route."""
    if not isinstance(spec.value, Mapping):
        return
    if isinstance(spec.value.get("targetRef"), Mapping):
        yield spec.get("targetRef")
    if isinstance(spec.value.get("targetRefs"), Sequence):
        yield from spec.get("targetRefs").each()
    if isinstance(spec.value.get("rules"), Sequence):
        for rule in spec.get("rules").each():
            if isinstance(rule.value, Mapping):
                yield from rule.get("backendRefs").each()
                yield from mirrors_of(rule)


def mirrors_of(rule: Input) -> Iterator[Input]:
    """The backends that get a copy of the requests of a route's rule."""
    for node in (rule, *rule.get("backendRefs").each()):
        for used in node.get("filters").each() if isinstance(node.value, Mapping) else ():
            if isinstance(used.value, Mapping) and used.value.get("requestMirror") is not None:
                yield used.get("requestMirror", "backendRef")


def generated_target(reference: Input) -> Iterator[Finding]:
    """Nothing targets a Service whose name GKE generates: the name is not stable and policies do not attach to it."""
    name = reference.get("name").text()
    kind = reference.get("kind").text() or "Service"
    if name is not None and kind == "Service" and GENERATED_SERVICE.fullmatch(name):
        yield Finding(
            "generated-service-target",
            f"{reference.path}: Service {name} is generated with a hash in its name; policies on it never attach "
            "(GatewayNotFound) and the name changes",
            allowed=f"kind: InferencePool, group: {INFERENCE_POOL_GROUP}",
            fix="target the InferencePool itself",
        )
