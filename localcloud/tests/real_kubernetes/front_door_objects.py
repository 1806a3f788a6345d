"""Objects of a front door made by hand: those of the program in short (``llmd_gke/manifests``)."""

from __future__ import annotations

import base64
from typing import Any

from llmd_gke.manifests.front_door import gateway
from llmd_gke.settings import FrontDoorSettings
from localcloud.tests.real_kubernetes.objects import Object

DOOR, SYSTEM, AI_SYSTEM = "front-door", "envoy-gateway-system", "envoy-ai-gateway-system"
CALLER = "x-llm-caller"
USAGE = "llm_total_token"
OPEN, CLOSED = "open", "closed"
"""Models: one for every caller, one not for ``team-a``. Each is in the namespace of its name."""

REQUESTS, TOKENS = 5, 200
"""Limits per hour: of caller ``counted``, and of caller ``frugal``."""

KEYS = {name: f"key-of-{name}-0123456789abcdef" for name in ("team-a", "team-b", "counted", "frugal")}
REDIS = "front-door-redis"
SETTINGS = FrontDoorSettings.model_validate({"callers": [{"name": name} for name in KEYS]})


def _own(
    kind: str, name: str, spec: Object, namespace: str = DOOR, group: str = "gateway.envoyproxy.io/v1alpha1"
) -> Object:
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def keys(content: dict[str, str]) -> Object:
    """The callers' keys. Not as ``stringData``: what is missing there at the next apply would stay."""
    meta = {"name": "caller-keys", "namespace": DOOR}
    data = {name: base64.b64encode(key.encode()).decode() for name, key in content.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": "Opaque", "data": data}


def limits() -> Object:
    """Requests of one caller, tokens of another, both counted over all models."""
    target = {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": DOOR}]}

    def rule(caller: str, number: int, **more: Any) -> Object:
        named = {"headers": [{"name": CALLER, "type": "Exact", "value": caller}]}
        return {"clientSelectors": [named], "limit": {"requests": number, "unit": "Hour"}, "shared": True, **more}

    tokens = {"namespace": "io.envoy.ai_gateway", "key": USAGE}
    cost = {"request": {"from": "Number", "number": 0}, "response": {"from": "Metadata", "metadata": tokens}}
    rules = [rule("counted", REQUESTS), rule("frugal", TOKENS, cost=cost)]
    return _own(
        "BackendTrafficPolicy", "limits", {**target, "rateLimit": {"type": "Global", "global": {"rules": rules}}}
    )


def identified_by_keys() -> Object:
    """Each caller has a key."""
    target = {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": DOOR}]}
    key_auth = {
        "credentialRefs": [{"name": "caller-keys"}],
        "extractFrom": [{"headers": ["Authorization"]}],
        "forwardClientIDHeader": CALLER,
        "sanitize": True,
    }
    return _own("SecurityPolicy", "callers", {**target, "apiKeyAuth": key_auth})


def redis() -> list[Object]:
    """Where limits are counted."""
    labels = {"app": REDIS}
    container = {
        "name": "redis",
        "image": "docker.io/library/redis:7.2",
        "args": ["redis-server", "--save", "", "--appendonly", "no"],
        "readinessProbe": {"tcpSocket": {"port": 6379}, "periodSeconds": 1},
    }
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], "terminationGracePeriodSeconds": 2}}
    deployment = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return [
        _own("Deployment", REDIS, deployment, namespace=SYSTEM, group="apps/v1"),
        _own("Service", REDIS, {"selector": labels, "ports": [{"port": 6379}]}, namespace=SYSTEM, group="v1"),
    ]


def door() -> list[Object]:
    """The Gateway and its policies."""
    api = "gateway.networking.k8s.io/v1"
    proxy = {
        "provider": {
            "type": "Kubernetes",
            "kubernetes": {
                "envoyDeployment": {"replicas": 2},
                "envoyService": {"name": DOOR, "type": "ClusterIP"},
            },
        }
    }
    reference = {"group": "gateway.envoyproxy.io", "kind": "EnvoyProxy", "name": DOOR, "namespace": DOOR}
    gateway_class = {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller", "parametersRef": reference}
    listener = {"name": "http", "protocol": "HTTP", "port": 80, "allowedRoutes": {"namespaces": {"from": "All"}}}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": DOOR}},
        _own("EnvoyProxy", DOOR, proxy),
        {"apiVersion": api, "kind": "GatewayClass", "metadata": {"name": DOOR}, "spec": gateway_class},
        _own("Gateway", DOOR, {"gatewayClassName": DOOR, "listeners": [listener]}, group=api),
        keys(KEYS),
        identified_by_keys(),
        gateway.clients(SETTINGS),
        limits(),
        gateway.extension(SETTINGS, []),
    ]


def route(model: str) -> list[Object]:
    """How a model is reached, and by whom."""
    pool = {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "pool"}
    name = f"{model}-door"
    rule = {
        "matches": [{"headers": [{"type": "Exact", "name": "x-ai-eg-model", "value": model}]}],
        "modelsOwnedBy": f"{model}/{model}",
        "timeouts": {"request": "600s"},
        "backendRefs": [pool],
    }
    parent = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": DOOR, "namespace": DOOR}
    made = [
        _own(
            "AIGatewayRoute",
            name,
            {
                "parentRefs": [parent],
                "llmRequestCosts": [{"metadataKey": USAGE, "type": "TotalToken"}],
                "rules": [rule],
            },
            namespace=model,
            group="aigateway.envoyproxy.io/v1beta1",
        )
    ]
    if model == CLOSED:
        made.append(_admitting(name, model, [caller for caller in KEYS if caller != "team-a"]))
        # AI Gateway's last rule answers 404 for unknown models, too.
        made.append(_admitting(name, model, list(KEYS), sectionName="route-not-found"))
    return made


def _admitting(route: str, namespace: str, callers: list[str], **section: str) -> Object:
    allowed = {"action": "Allow", "principal": {"headers": [{"name": CALLER, "values": callers}]}}
    policy = {
        "targetRefs": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": route, **section}],
        "mergeType": "StrategicMerge",
        "authorization": {"defaultAction": "Deny", "rules": [allowed]},
    }
    return _own("SecurityPolicy", f"{route}-unknown" if section else route, policy, namespace=namespace)


def load_balancer() -> list[Object]:
    """GKE's load balancer in front of the door."""
    api = "gateway.networking.k8s.io/v1"
    backend = {"name": DOOR, "port": 80}
    rule = {"matches": [{"path": {"type": "PathPrefix", "value": "/v1"}}], "backendRefs": [backend]}
    listener = {"name": "http", "port": 80, "protocol": "HTTP"}
    target = {"targetRef": {"group": "", "kind": "Service", "name": DOOR}}
    asked = {"requestPath": "/ready", "port": 19003, "portSpecification": "USE_FIXED_PORT"}
    check = {"checkIntervalSec": 1, "timeoutSec": 1, "healthyThreshold": 1}
    health = {**check, "config": {"type": "HTTP", "httpHealthCheck": asked}}
    gke = "networking.gke.io/v1"
    spec = {"gatewayClassName": "gke-l7-rilb", "listeners": [listener]}
    return [
        _own("Gateway", "edge", spec, namespace=SYSTEM, group=api),
        _own("HTTPRoute", DOOR, {"parentRefs": [{"name": "edge"}], "rules": [rule]}, namespace=SYSTEM, group=api),
        _own("HealthCheckPolicy", DOOR, {**target, "default": health}, namespace=SYSTEM, group=gke),
        _own("GCPBackendPolicy", DOOR, {**target, "default": {"timeoutSec": 300}}, namespace=SYSTEM, group=gke),
    ]
