"""A Gateway with its routes as one Envoy configuration, or the reason for which GKE rejects it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from llmd_common.kubernetes.fields import each, key, name, namespace, number, part, text, uid
from localcloud.gke_gateway import certificates
from localcloud.gke_gateway.envoy.clusters import backend_cluster, picker_cluster
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.envoy.listeners import listener, route_configuration
from localcloud.gke_gateway.envoy.routes import ResolvedRule, any_other_host, virtual_host
from localcloud.gke_gateway.listener_conditions import is_served
from localcloud.gke_gateway.refusals import Refusal, certificate_secrets, gateway_refusal, route_refusal
from localcloud.gke_gateway.resources.backends import Reference, resolve
from localcloud.gke_gateway.resources.classes import GatewayClass
from localcloud.gke_gateway.resources.endpoints import EndpointSource
from localcloud.gke_gateway.resources.objects import SECRET, ClusterSnapshot
from localcloud.gke_gateway.route_attachment import Attachment, attachments, hostnames
from localcloud.providers.protocol.values import JsonObject


@dataclass(frozen=True)
class GatewayProgram:
    """Envoy's resources for a Gateway by name, and the source of each cluster's endpoints.

    ``uid`` is the Gateway's.
    """

    uid: str = ""
    listeners: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    routes: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    clusters: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    secrets: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    sources: dict[str, EndpointSource] = field(default_factory=dict[str, EndpointSource])


@dataclass(frozen=True)
class RouteBinding:
    """A reference of a route to the Gateway, with its resolved backends."""

    attachment: Attachment
    rules: tuple[ResolvedRule, ...] = ()
    refusal: Refusal | None = None

    @property
    def broken(self) -> Reference | None:
        """The first reference that does not resolve."""
        return next((ref for rule in self.rules for ref in (*rule.references, *rule.mirrors) if ref.problem), None)


@dataclass(frozen=True)
class Translation:
    """A translated Gateway. With a ``refusal`` (of its own or of a route) there is no program, and nothing changes."""

    gateway: JsonObject
    gateway_class: GatewayClass
    address: str
    bindings: tuple[RouteBinding, ...]
    refusal: Refusal | None
    own_refusal: bool
    program: GatewayProgram | None


def translate(
    gateway: JsonObject, gateway_class: GatewayClass, address: str, snapshot: ClusterSnapshot, files: EnvoyFiles
) -> Translation:
    """The Gateway at that address, with everything that refers to it."""
    bindings = tuple(_bind(one, gateway, gateway_class, snapshot) for one in attachments(gateway, snapshot))
    own = gateway_refusal(gateway, snapshot) or _unusable_secret(gateway, snapshot)
    refusal = own or next((one.refusal for one in bindings if one.refusal), None)
    program = None if refusal else _program(gateway, address, bindings, snapshot, files)
    return Translation(
        gateway=gateway,
        gateway_class=gateway_class,
        address=address,
        bindings=bindings,
        refusal=refusal,
        own_refusal=own is not None,
        program=program,
    )


def _bind(
    attachment: Attachment, gateway: JsonObject, gateway_class: GatewayClass, snapshot: ClusterSnapshot
) -> RouteBinding:
    if not attachment.listeners:
        return RouteBinding(attachment)
    route = attachment.route
    rules = tuple(
        ResolvedRule(
            route,
            index,
            rule,
            tuple(resolve(ref, route, gateway, gateway_class, snapshot) for ref in each(rule, "backendRefs")),
            tuple(
                resolve(mirror, route, gateway, gateway_class, snapshot)
                for entry in each(rule, "filters")
                if (mirror := part(entry, "requestMirror", "backendRef"))
            ),
        )
        for index, rule in enumerate(each(route, "spec", "rules"))
    )
    return RouteBinding(attachment, rules, route_refusal(route))


def _unusable_secret(gateway: JsonObject, snapshot: ClusterSnapshot) -> Refusal | None:
    for where, called in certificate_secrets(gateway):
        secret = snapshot.get(SECRET, where, called)
        if secret is not None and certificates.from_secret(called, secret) is None:
            # No public source; wording inferred.
            message = f"Error GWCER102: Secret {where}/{called} holds no certificate and key."
            return Refusal("InvalidCertificateRef", message)
    return None


def _program(
    gateway: JsonObject, address: str, bindings: tuple[RouteBinding, ...], snapshot: ClusterSnapshot, files: EnvoyFiles
) -> GatewayProgram:
    program = GatewayProgram(uid(gateway))
    by_port: dict[int, list[JsonObject]] = {}
    for one in filter(is_served, each(gateway, "spec", "listeners")):
        by_port.setdefault(number(one, "port") or 0, []).append(one)
    for port, of_port in by_port.items():
        called = f"{namespace(gateway)}_{name(gateway)}_{port}"
        hosts = _hosts(of_port, bindings)
        program.routes[called] = route_configuration(called, hosts)
        secrets = _secrets(gateway, of_port, snapshot, files)
        program.secrets.update(secrets)
        secret_files = [files.certificates / f"{secret}.json" for secret in secrets]
        program.listeners[called] = listener(
            called, address, port, routes=files.routes(called), access_log=files.access_log, certificates=secret_files
        )
    for one in bindings:
        for rule in one.rules:
            for reference in (*rule.references, *rule.mirrors):
                _add_backend(program, reference, files)
    return program


def _hosts(listeners: list[JsonObject], bindings: tuple[RouteBinding, ...]) -> list[JsonObject]:
    by_host: dict[str, list[ResolvedRule]] = {}
    names = {text(entry, "name") for entry in listeners}
    for one in bindings:
        for entry in one.attachment.listeners:
            if text(entry, "name") in names:
                for host in hostnames(entry, one.attachment.route):
                    host_rules = by_host.setdefault(host, [])
                    host_rules += [rule for rule in one.rules if rule not in host_rules]
    hosts = [virtual_host(host, rules) for host, rules in sorted(by_host.items())]
    if "" not in by_host:
        hosts.append(any_other_host())
    return hosts


def _secrets(
    gateway: JsonObject, listeners: list[JsonObject], snapshot: ClusterSnapshot, files: EnvoyFiles
) -> Mapping[str, JsonObject]:
    """The certificates of a port, by their names in Envoy."""
    secrets: dict[str, JsonObject] = {}
    for entry in listeners:
        for ref in each(entry, "tls", "certificateRefs"):
            where, called = text(ref, "namespace") or namespace(gateway), text(ref, "name")
            in_envoy = f"secret_{where}_{called}"
            secret = snapshot.get(SECRET, where, called)
            made = certificates.from_secret(in_envoy, secret) if secret else None
            if made:
                secrets[in_envoy] = made
        if text(entry, "protocol") == "HTTPS" and part(entry, "tls", "options"):
            in_envoy = f"made_{'_'.join(key(gateway))}_{text(entry, 'name')}"
            domain = text(entry, "hostname")
            secrets[in_envoy] = certificates.self_signed(in_envoy, domain, files.root / "self-signed")
    return secrets


def _add_backend(program: GatewayProgram, reference: Reference, files: EnvoyFiles) -> None:
    backend = reference.backend
    if backend is None:
        return
    program.clusters[backend.cluster] = backend_cluster(backend, files.endpoints)
    program.sources[backend.cluster] = replace(backend.source, drain_seconds=backend.settings.drain_seconds)
    if backend.picker is not None:
        program.clusters[backend.picker.cluster] = picker_cluster(backend.picker, files.endpoints)
        program.sources[backend.picker.cluster] = backend.picker.source
