"""The front door at the load balancer: one route, and the policies of the Service behind it."""

from __future__ import annotations

from collections.abc import Sequence

from llmd_gke.catalog import front_door
from llmd_gke.gateways import gke
from llmd_gke.gateways.gateway import IdentityProxy, PolicyTarget, Serving
from llmd_gke.json_types import JsonObject
from llmd_gke.manifests import gateway, routing
from llmd_gke.settings import GatewaySettings, ModelSettings
from llmd_gke.settings.sections.front_door import IapSettings

PREFIX = "/v1"


def route(settings: GatewaySettings, models: Sequence[ModelSettings]) -> JsonObject:
    """The HTTPRoute: ``/v1`` goes to the Envoys' Service; for every other path the load balancer answers 404.

    It is in the Service's namespace, so that no ReferenceGrant is needed.
    """
    backend: JsonObject = {"kind": "Service", "name": front_door.NAME, "port": front_door.LISTENER_PORT}
    rule: JsonObject = {"matches": [{"path": {"type": "PathPrefix", "value": PREFIX}}], "backendRefs": [backend]}
    spec: JsonObject = {
        "parentRefs": [gateway.parent(settings)],
        "rules": routing.limited([rule], _longest(models), settings),
    }
    if settings.domain is not None:
        spec["hostnames"] = [settings.domain]
    place: JsonObject = {"name": front_door.NAME, "namespace": front_door.PROXIES_NAMESPACE}
    metadata: JsonObject = {**place, "annotations": routing.EDITABLE}
    return {"apiVersion": gateway.GATEWAY_API, "kind": "HTTPRoute", "metadata": metadata, "spec": spec}


def _longest(models: Sequence[ModelSettings]) -> int:
    """The limit of the slowest model in seconds: Envoy has each model's own."""
    return max(model.request_timeout_seconds for model in models)


def policies(
    models: Sequence[ModelSettings],
    settings: GatewaySettings,
    iap: IapSettings | None = None,
    security_policy: str | None = None,
) -> dict[str, JsonObject]:
    """Health check of the Service, its time limit, and who reaches it, by the last part of their resources' names: none
    where the Gateway is not GKE's. ``security_policy``: name of Cloud Armor's policy (default: none).
    """
    if not settings.is_googles:
        return {}
    target: JsonObject = {"group": "", "kind": "Service", "name": front_door.NAME}
    return gke.model_policies(
        Serving(
            name=front_door.NAME,
            namespace=front_door.PROXIES_NAMESPACE,
            targets=(PolicyTarget("service", target),),
            port=front_door.READY_PORT,
            health_path=front_door.READY_PATH,
            timeout_seconds=_longest(models),
            draining_seconds=front_door.DRAINING_SECONDS,
            max_rate=None,
            security_policy=security_policy,
            identity_proxy=None if iap is None else IdentityProxy(iap.client_id, front_door.IAP_SECRET),
        )
    )
