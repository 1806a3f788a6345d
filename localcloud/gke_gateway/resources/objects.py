"""The objects that the controller reads: a snapshot of the cluster, and functions on objects that many parts use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from llmd_common.kubernetes.client import ENDPOINT_SLICES, NAMESPACES, PODS, SECRETS, SERVICES, Resource
from llmd_common.kubernetes.fields import Key, Object, each, name, namespace, number, part, strings, text, texts
from localcloud.product import INFERENCE_POOL_GROUP, gke
from localcloud.providers.protocol.values import JsonObject

GATEWAY_GROUP = "gateway.networking.k8s.io"
GKE_GROUP = gke.GROUP

GATEWAY_CLASS = "GatewayClass"
GATEWAY = "Gateway"
HTTP_ROUTE = "HTTPRoute"
POOL = "InferencePool"
HEALTH_CHECK_POLICY = gke.HEALTH_CHECK.kind
BACKEND_POLICY = gke.BACKEND_POLICY.kind
GATEWAY_POLICY = gke.GATEWAY_POLICY.kind
SERVICE = "Service"
ENDPOINT_SLICE = "EndpointSlice"
POD = "Pod"
SECRET = "Secret"  # noqa: S105 - a kind
NAMESPACE = "Namespace"
REFERENCE_GRANT = "ReferenceGrant"

RESOURCES: Mapping[str, Resource] = {
    GATEWAY_CLASS: Resource(f"{GATEWAY_GROUP}/v1", "gatewayclasses", namespaced=False),
    GATEWAY: Resource(f"{GATEWAY_GROUP}/v1", "gateways"),
    HTTP_ROUTE: Resource(f"{GATEWAY_GROUP}/v1", "httproutes"),
    REFERENCE_GRANT: Resource(f"{GATEWAY_GROUP}/v1beta1", "referencegrants"),
    POOL: Resource(f"{INFERENCE_POOL_GROUP}/v1", "inferencepools"),
    HEALTH_CHECK_POLICY: Resource(f"{GKE_GROUP}/v1", "healthcheckpolicies"),
    BACKEND_POLICY: Resource(f"{GKE_GROUP}/v1", "gcpbackendpolicies"),
    GATEWAY_POLICY: Resource(f"{GKE_GROUP}/v1", "gcpgatewaypolicies"),
    SERVICE: SERVICES,
    ENDPOINT_SLICE: ENDPOINT_SLICES,
    POD: PODS,
    SECRET: SECRETS,
    NAMESPACE: NAMESPACES,
}
"""The kinds that are watched, with their API versions and plurals."""


@dataclass(frozen=True)
class ClusterSnapshot:
    """A snapshot of the cluster, and the named addresses that Google has reserved (name to IP address)."""

    kinds: Mapping[str, Mapping[Key, JsonObject]] = field(default_factory=dict[str, Mapping[Key, JsonObject]])
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])

    def get(self, kind: str, namespace: str, name: str) -> JsonObject | None:
        """One object, or ``None``."""
        return self.kinds.get(kind, {}).get((namespace, name))

    def all(self, kind: str) -> list[JsonObject]:
        """Every object of a kind, the oldest first: the order in which conflicts are decided."""
        return sorted(self.kinds.get(kind, {}).values(), key=age)


def full_name(obj: JsonObject) -> str:
    """``NAMESPACE/NAME``, as GKE's messages put it."""
    return f"{namespace(obj)}/{name(obj)}"


def generation(obj: JsonObject) -> int:
    """``metadata.generation``, 0 where it is missing."""
    return number(obj, "metadata", "generation") or 0


def age(obj: JsonObject) -> tuple[str, str, str]:
    """Sorts the oldest object first, then by namespace and name: how the Gateway API settles conflicts."""
    return text(obj, "metadata", "creationTimestamp"), namespace(obj), name(obj)


def selects(selector: Mapping[str, str], carried: Mapping[str, str]) -> bool:
    """Whether ``matchLabels`` match these labels; an empty selector matches nothing here."""
    return bool(selector) and all(carried.get(k) == v for k, v in selector.items())


def label_selector_matches(selector: object, carried: Mapping[str, str]) -> bool:
    """Whether a LabelSelector (``matchLabels``, ``matchExpressions``) matches; an empty one matches everything."""
    if not isinstance(selector, dict):
        return False
    asked = part(cast("object", selector))
    if any(carried.get(k) != v for k, v in strings(asked.get("matchLabels")).items()):
        return False
    return all(_expression_matches(expression, carried) for expression in each(asked, "matchExpressions"))


def _expression_matches(expression: Object, carried: Mapping[str, str]) -> bool:
    label, operator = text(expression, "key"), text(expression, "operator")
    listed = texts(expression, "values")
    match operator:
        case "In":
            return carried.get(label) in listed
        case "NotIn":
            return carried.get(label) not in listed
        case "Exists":
            return label in carried
        case "DoesNotExist":
            return label not in carried
        case _:
            return False
