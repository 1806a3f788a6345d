"""HTTPRoutes of models, and the policies of the gateway implementation (:mod:`llmd_gke.gateways`).

GKE applies *no* change to a Gateway once it rejects one of its routes. So the route uses only features that GKE's
conformance reports claim or users confirmed: prefix and exact paths, prefix replacement, no ``timeouts``, no ``name``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from llmd_gke.catalog import endpoints, front_door, kserve
from llmd_gke.gateways import gke, istio
from llmd_gke.gateways.gateway import INFERENCE_POOL_GROUP, PolicyTarget, Serving
from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.manifests import naming
from llmd_gke.manifests.gateway import GATEWAY_API, parent
from llmd_gke.settings import GatewaySettings, ModelSettings, StackSettings


def _pool(name: str) -> JsonObject:
    # The group must be that of v1: KServe's own routes list the v1alpha2 pool first, which GKE does not have.
    return {"group": INFERENCE_POOL_GROUP, "kind": "InferencePool", "name": kserve.inference_pool(name)}


def _workload(name: str) -> JsonObject:
    return {"kind": "Service", "name": kserve.workload_service(name), "port": kserve.WORKLOAD_PORT}


def _divided(backend: Callable[[str], JsonObject], shares: Mapping[str, int]) -> list[Json]:
    """The backends of a rule, with weights if there are several: those of versions without requests, too, since KServe
    waits until the load balancer has accepted the pool (`GKE's way of a rollout
    <https://cloud.google.com/kubernetes-engine/docs/how-to/gke-inference-gateway-rollout-operations>`_).
    """
    if len(shares) == 1:
        return [backend(name) for name in shares]
    return [{**backend(name), "weight": share} for name, share in shares.items()]


def _matches(*paths: str) -> list[Json]:
    return [{"path": {"type": "PathPrefix", "value": path}} for path in paths]


def _below(base: str, path: str, backends: list[Json]) -> JsonObject:
    """The rule for one path of the server, below the model's own path. Each path needs a rule because of its rewrite.

    The prefix is replaced by the path itself, never by ``/``: some controllers would produce ``//v1/...``.
    """
    replacement: JsonObject = {"type": "ReplacePrefixMatch", "replacePrefixMatch": path}
    return {
        "matches": _matches(f"{base}{path}"),
        "backendRefs": backends,
        "filters": [{"type": "URLRewrite", "urlRewrite": {"path": replacement}}],
    }


EDITABLE: JsonObject = {"pulumi.com/patchForce": "true"}
"""Annotations of a route that has ``timeouts`` in one class only: on the way from Istio to GKE a person takes them out
by hand, as the preview says, and would own the rules from then on."""


def limited(rules: Sequence[Json], seconds: int, settings: GatewaySettings) -> list[Json]:
    """The rules of a route with the longest answer: Istio has it in the route, GKE in a GCPBackendPolicy."""
    if not settings.is_istio:
        return [*rules]
    return [{**cast("JsonObject", rule), "timeouts": {"request": f"{seconds}s"}} for rule in rules]


def route(model: ModelSettings, settings: GatewaySettings, *, kept: bool = False) -> JsonObject:
    """The HTTPRoute of a model at ``/NAMESPACE/NAME`` (and at ``/`` with ``atRoot``), at the one listener for models;
    that of a version without the model's own path is for this version alone.

    An allow-list: inference goes to the InferencePool, listing, health and the setting ``paths`` to the Service, and
    the gateway answers every other path of the server with 404. The endpoint picker rejects what it cannot parse as a
    chat or a completion. ``kept``: the route stays beside a front door for a transition, and is marked for the
    policies. It has no ``waitFor``: its references resolve only once KServe has created both backends, which it does
    only once the route exists.
    """
    shares = model.release.shares if model.release is not None and model.name == model.model_name else {model.name: 100}
    return _route(model, model.name, shares, settings, kept=kept)


def shared_route(model: ModelSettings, settings: GatewaySettings, *, kept: bool = False) -> JsonObject | None:
    """The HTTPRoute at the model's own path, if no version has the name of the model; ``None`` for all versions but the
    one that carries it.
    """
    release = model.release
    if release is None or model.name == release.model or not _carries(model):
        return None
    return _route(model, release.model, release.shares, settings, kept=kept)


def _carries(model: ModelSettings) -> bool:
    """Whether the route of all versions is this model's."""
    return model.release is None or model.name == model.release.carrier


def address(model: ModelSettings) -> tuple[str, str]:
    """Path and name for a model's clients: the model's, or its own where another version carries these."""
    if _carries(model):
        return f"/{model.namespace}/{model.model_name}", model.served_name
    return model.path, model.name


def at_the_edge(settings: StackSettings) -> tuple[str, ...]:
    """NAMESPACE/NAME of the stack's routes at the Gateway of the load balancer."""
    models = [one for one in settings.models if not one.stopped] if settings.routes_pools_at_the_edge else []
    named = [(one, name) for one in models for name in (one.name, *([one.model_name] if _carries(one) else []))]
    own = [f"{one.namespace}/{naming.route(name)}" for one, name in named]
    door = [] if settings.front_door is None else [f"{front_door.PROXIES_NAMESPACE}/{front_door.NAME}"]
    return tuple(dict.fromkeys([*own, *door]))


def _route(
    model: ModelSettings, name: str, shares: Mapping[str, int], settings: GatewaySettings, *, kept: bool
) -> JsonObject:
    others = (*endpoints.LISTING, *model.paths)
    base, pools, workloads = f"/{model.namespace}/{name}", _divided(_pool, shares), _divided(_workload, shares)
    rules: list[Json] = [_below(base, path, workloads) for path in others]
    rules += [_below(base, path, pools) for path in endpoints.INFERENCE]
    if model.at_root and name == model.model_name:
        rules.append({"matches": _matches(*others), "backendRefs": workloads})
        rules.append({"matches": _matches(*endpoints.INFERENCE), "backendRefs": pools})
    rules = limited(rules, model.request_timeout_seconds, settings)
    spec: JsonObject = {"parentRefs": [parent(settings)], "rules": rules}
    if settings.domain is not None:
        spec["hostnames"] = [settings.domain]
    annotations: JsonObject = {**EDITABLE, front_door.KEPT_ANNOTATION: "true"} if kept else EDITABLE
    at = (naming.route(name), model.namespace)
    return kubernetes_object(GATEWAY_API, "HTTPRoute", *at, annotations=annotations, spec=spec)


def model_policies(
    model: ModelSettings, settings: GatewaySettings, memory_port: int | None = None
) -> dict[str, JsonObject]:
    """GKE's policies for a model's InferencePool and Service, or Istio's for its endpoint picker and callers, by the
    suffix of their resources' names. ``memory_port``: where GKE reads a chip's memory.
    """
    if settings.is_istio:
        rules = {"picker-tls": istio.picker_rule(model.name, model.namespace, kserve.picker_service(model.name))}
        if settings.mesh is None:
            return rules
        at = f"{naming.GATEWAY_NAMESPACE}/{naming.GATEWAY_NAME}"
        return {**rules, **istio.mesh(model.name, model.namespace, naming.workload_labels(model.name), at, memory_port)}
    workload = kserve.workload_service(model.name)
    return gke.model_policies(
        Serving(
            name=model.name,
            namespace=model.namespace,
            targets=(
                PolicyTarget("pool", _pool(model.name)),
                # `group` is required even if it is empty.
                PolicyTarget("service", {"group": "", "kind": "Service", "name": workload}),
            ),
            port=kserve.WORKLOAD_PORT,
            health_path="/health",
            timeout_seconds=model.request_timeout_seconds,
            draining_seconds=kserve.PRE_STOP_SECONDS + model.drain_seconds,
            max_rate=model.max_rate_per_endpoint,
        )
    )
