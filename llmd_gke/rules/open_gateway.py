"""Rules about gateways on the Internet that do not authenticate callers.

A guard protects the models from strangers: callers' keys or tokens (the front door), IAP, or a policy of Cloud
Armor that denies other addresses. A throttle is none, because everyone may still call; nor is HTTPS, which encrypts
requests, but admits everyone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from llmd_gke.gateways import gke, istio
from llmd_gke.gateways.gateway import Proxies
from llmd_gke.rules import addresses
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown

OPEN_ANNOTATION = "llmd-gke/open"
"""Annotation of a Gateway that is meant to be open to everyone, by the setting ``gateway.open``."""

IDENTITIES: Mapping[str, tuple[str, ...]] = {
    "apiKeyAuth": ("credentialRefs",),
    "basicAuth": ("users",),
    "extAuth": ("http", "grpc"),
    "jwt": ("providers",),
    "oidc": ("provider",),
}
"""Fields of Envoy Gateway's SecurityPolicy that identify callers, each with the fields of which it needs one
(envoyproxy/gateway v1.8.3 ``api/v1alpha1``)."""
SWITCHED_OFF = ("optional", "failOpen")
"""Fields that admit requests without an identity: always, or while the service that checks it is away."""


def open_gateway(*, external: bool, guarded: bool, meant: bool, fix: str) -> Iterator[Finding]:
    """An external gateway is guarded, or explicitly marked as open."""
    if external and not guarded and not meant:
        yield Finding(
            "open-gateway",
            "everyone on the Internet could use the models: nothing requires a key, a token or an identity, or "
            "restricts addresses",
            allowed="a front door with keys or tokens, IAP, address ranges, or an internal gateway",
            fix=fix,
        )


def faces_the_internet(gateway: Input) -> bool:
    """Whether GKE gives the Gateway a public address. Other implementations' classes are not checked."""
    name = gateway.get("spec", "gatewayClassName").text() or ""
    return name.startswith(gke.CLASS_PREFIX) and "rilb" not in name.split("-")


def proxies_face_the_internet(gateway: Input, proxies: Proxies) -> bool:
    """Whether the Service of a Gateway's own proxies gets a public address."""
    own, infrastructure = gateway.get("metadata", "annotations"), gateway.get("spec", "infrastructure")
    copied = infrastructure.get("annotations") if infrastructure.present() else own
    internal = any(copied.get(key).text() == value for key, value in istio.INTERNAL.items())
    return not internal and own.get(proxies.service_type).text() in (None, "LoadBalancer")


def is_meant(gateway: Input) -> bool:
    """Whether the Gateway is marked as open."""
    return gateway.get("metadata", "annotations", OPEN_ANNOTATION).text() == "true"


def guards_backend(policy_spec: Input, throttles: Collection[str] = ()) -> bool:
    """Whether a GCPBackendPolicy has IAP or a policy of Cloud Armor, other than ``throttles``, which admit everyone.

    What is not known yet counts, and is noted.
    """
    default = policy_spec.get("default")
    enabled, armor = default.get("iap", "enabled"), default.get("securityPolicy")
    return enabled.boolean() is True or armor.text() not in (None, "", *throttles) or _later(enabled) or _later(armor)


def asks_who_calls(policy_spec: Input) -> bool:
    """Whether a SecurityPolicy of Envoy Gateway rejects requests without an identity, or from other addresses.

    What is not known yet counts, and is noted.
    """
    return any(_asks(policy_spec.get(part), needed) for part, needed in IDENTITIES.items()) or _admits_only_known(
        policy_spec.get("authorization")
    )


def _asks(section: Input, needed: Collection[str]) -> bool:
    if isinstance(section.value, Unknown):
        return not section.present()
    if any(section.get(field).boolean() is True for field in SWITCHED_OFF):
        return False
    return any(section.get(field).value for field in needed)


def _admits_only_known(authorization: Input) -> bool:
    """Whether everything is denied but what has a valid token or comes from a narrow range of addresses."""
    if not authorization.present() or (authorization.get("defaultAction").text() or "Deny") != "Deny":
        return False
    allowed = [
        rule.get("principal") for rule in authorization.get("rules").each() if rule.get("action").text() != "Deny"
    ]
    return all(
        principal.get("jwt").value
        or ((ranges := _texts(principal.get("clientCIDRs"))) and not addresses.not_naming(ranges))
        for principal in allowed
    )


def _texts(entries: Input) -> list[str]:
    return [text for entry in entries.each() if (text := entry.text()) is not None]


def _later(node: Input) -> bool:
    return isinstance(node.value, Unknown)
