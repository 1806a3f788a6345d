"""Rules about the edge."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.gateways import istio
from llmd_gke.rules import gateway as checks
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.open_gateway import open_gateway
from llmd_gke.settings.sections.gateway import GatewaySettings
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.finding_at import SettingFinding, locate

KEY = "llmd-gke:gateway"


def gateway(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks that plain HTTP on the Internet is allowed explicitly, and that settings that need each other are set."""
    edge = settings.gateway
    yield from _plain_http(edge)
    yield from _open(settings)
    if edge.tls is not None:
        sources = {
            "certificateManager": edge.tls.certificate_manager,
            "preSharedCertificates": edge.tls.pre_shared_certificates,
            "fromConfig": ("tls",) if edge.tls.from_config else (),
            "issuer": (edge.tls.issuer,) if edge.tls.issuer is not None else (),
        }
        named = edge.tls.model_dump(by_alias=True, exclude_defaults=True, mode="json")
        yield from locate(f"{KEY}.tls", named, checks.certificates(sources), f"{KEY}.tls")
    if edge.domain is not None:
        yield from locate(f"{KEY}.domain", edge.domain, checks.domain(edge.domain))
    yield from _together(edge)
    if edge.is_istio:
        yield from _without_google(settings)
    elif edge.mesh is not None:
        yield _needs("mesh", edge.mesh.mtls, "the mesh is Istio's", "set class to istio, or remove mesh")


def _without_google(settings: StackSettings) -> Iterator[SettingFinding]:
    """What only Google's load balancer does, and what Istio does not do yet."""
    tls, door = settings.gateway.tls, settings.front_door
    certificates = "set gateway.tls to {fromConfig: true}, with the certificate in the stack's secrets"
    reasons: list[tuple[str, object, str, str]] = []
    if settings.gateway.mesh is not None:
        if door is not None:
            problem = "the front door's proxies have no identity in the mesh, so servers would refuse their requests"
            reasons.append((f"{KEY}.mesh", None, problem, "remove mesh: NetworkPolicies admit only the door's proxies"))
        for model in settings.models:
            if settings.spans_hosts(model):
                problem = "the hosts of a slice talk without certificates, which sidecars of this model would refuse"
                reasons.append((f"{KEY}.mesh", model.name, problem, "remove mesh"))
    if settings.gateway.existing is not None:
        reasons.append((f"{KEY}.existing", None, "an existing Gateway has to be GKE's", "remove existing"))
    if tls is not None:
        for key, names in (
            ("certificateManager", tls.certificate_manager),
            ("preSharedCertificates", tls.pre_shared_certificates),
        ):
            if names:
                problem = "Istio's proxies take certificates from Secrets only"
                reasons.append((f"{KEY}.tls.{key}", list(names), problem, certificates))
        if tls.minimum_version != istio.TLS_FLOOR:
            problem = f"Istio's Gateways take TLS {istio.TLS_FLOOR} and newer"
            reasons.append((f"{KEY}.tls.minimumVersion", tls.minimum_version, problem, "remove minimumVersion"))
        if "profile" in tls.model_fields_set:
            problem = "Google's cipher profiles belong to its own load balancer"
            reasons.append((f"{KEY}.tls.profile", tls.profile, problem, "remove profile"))
    if door is not None and door.access is not None:
        problem = "Cloud Armor and IAP belong to Google's load balancer, which Istio takes the place of"
        fix = "remove access, or gateway.class"
        reasons.append(("llmd-gke:frontDoor.access", door.access.model_dump(by_alias=True), problem, fix))
    for key, model in zip(settings.model_keys, settings.models, strict=True):
        if model.max_rate_per_endpoint is not None:
            problem = "a GCPBackendPolicy limits the rate, which Istio does not read"
            fix = "remove maxRatePerEndpoint; limits of callers: frontDoor.callers"
            reasons.append((f"{key}.maxRatePerEndpoint", model.max_rate_per_endpoint, problem, fix))
        first = model.release is not None and model.release.position == 0
        if first and model.rollout is not None and (door is None or door.keep_paths):
            problem = "with two pools in a rule, Istio asks the picker of one of them for both (istio/istio#61594)"
            at = key.removesuffix(".versions[0]")
            reasons.append(
                (f"{at}.rollout", None, problem, "remove rollout, or put the models behind llmd-gke:frontDoor")
            )
    for key, value, problem, fix in reasons:
        yield SettingFinding(key, value, Finding("istio-gateway", problem, fix=fix), (f"{KEY}.class", key))


def _plain_http(edge: GatewaySettings) -> Iterator[SettingFinding]:
    if edge.exposure != "external" or edge.scheme == "https":
        return
    if not edge.allow_plain_http:
        finding = Finding(
            "plain-http",
            "an external gateway would serve plain HTTP to the Internet",
            allowed="exposure: internal, tls with a certificate, or allowPlainHttp: true to accept this",
            fix="pulumi config set --path llmd-gke:gateway.exposure internal",
        )
        yield SettingFinding(f"{KEY}.exposure", edge.exposure, finding, (f"{KEY}.allowPlainHttp", f"{KEY}.tls"))
    else:
        finding = Finding(
            "plain-http",
            "the gateway serves plain HTTP to the Internet, as allowPlainHttp allows",
            fix="use this for trials only",
            severity="warning",
        )
        yield SettingFinding(f"{KEY}.allowPlainHttp", True, finding)


def _open(settings: StackSettings) -> Iterator[SettingFinding]:
    edge, door = settings.gateway, settings.front_door
    findings = open_gateway(
        external=edge.exposure == "external",
        guarded=door is not None,
        meant=edge.open,
        fix="add the line `open: true` below llmd-gke:gateway if this is meant; otherwise set llmd-gke:frontDoor",
    )
    yield from locate(f"{KEY}.exposure", edge.exposure, findings, KEY, "llmd-gke:frontDoor")
    if edge.open and door is not None and not door.keep_paths:
        yield _needs("open", True, "the front door authenticates callers, so this has no effect", "remove open")


def _together(edge: GatewaySettings) -> Iterator[SettingFinding]:
    if edge.tls is not None and edge.allow_plain_http:
        problem = "with tls the gateway serves HTTPS only, so this has no effect"
        yield _needs("allowPlainHttp", True, problem, "remove allowPlainHttp")
    if edge.redirect_http and edge.tls is None:
        yield _needs("redirectHttp", True, "there is no HTTPS to redirect to", "set tls, or remove redirectHttp")
    if edge.allow_global_access and edge.exposure == "external":
        problem = "an external gateway is reachable from everywhere; Google supports this only for internal ones"
        yield _needs("allowGlobalAccess", True, problem, "remove allowGlobalAccess")
    if edge.tls is not None and edge.tls.issuer is not None and edge.domain is None:
        yield _needs("tls.issuer", edge.tls.issuer, "a certificate needs a name", "set domain, or remove tls.issuer")
    if edge.dns_zone is not None and edge.domain is None:
        yield _needs("dnsZone", edge.dns_zone, "a DNS record needs a name", "set domain, or remove dnsZone")
    if edge.tls is not None and edge.tls.minimum_version is None and edge.tls.profile != "MODERN":
        problem = "without minimumVersion there is no SSL policy, so this has no effect"
        yield _needs("tls.profile", edge.tls.profile, problem, "set tls.minimumVersion, or remove tls.profile")


def _needs(key: str, value: object, problem: str, fix: str) -> SettingFinding:
    finding = Finding("gateway-combination", problem, fix=fix)
    return SettingFinding(f"{KEY}.{key}", value, finding, (KEY, "llmd-gke:frontDoor.keepPaths"))
