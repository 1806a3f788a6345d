"""Objects for the tests, each as small as an API server would let it be."""

from __future__ import annotations

from llmd_common.kubernetes.fields import key, text
from localcloud.gke_gateway.resources.objects import ClusterSnapshot
from localcloud.providers.protocol.values import JsonObject, JsonValue, merge

NAMESPACE = "llm"


def snapshot_of(*objects: JsonObject) -> ClusterSnapshot:
    """What the controller knows when there are these objects."""
    kinds: dict[str, dict[tuple[str, str], JsonObject]] = {}
    for one in objects:
        kinds.setdefault(text(one, "kind"), {})[key(one)] = one
    return ClusterSnapshot(kinds, {})


def obj(kind: str, name: str, spec: JsonObject | None = None, **more: JsonValue) -> JsonObject:
    metadata: JsonObject = {"name": name, "namespace": NAMESPACE, "generation": 1, "uid": f"uid-{name}"}
    extra = more.pop("metadata", {})
    assert isinstance(extra, dict)
    base: JsonObject = {"kind": kind, "metadata": {**metadata, **extra}}
    return {**base, **({} if spec is None else {"spec": spec}), **more}


def gateway(
    name: str = "gateway", *, port: int = 80, gateway_class: str = "gke-l7-rilb", **spec: JsonValue
) -> JsonObject:
    listener: JsonObject = {"name": "http", "port": port, "protocol": "HTTP"}
    return obj("Gateway", name, {"gatewayClassName": gateway_class, "listeners": [listener], **spec})


def rule(path: str, *backends: JsonObject, **more: JsonValue) -> JsonObject:
    return {
        "matches": [{"path": {"type": "PathPrefix", "value": path}}],
        "backendRefs": list[JsonValue](backends),
        **more,
    }


def route(name: str, *rules: JsonObject, **more: JsonValue) -> JsonObject:
    spec: JsonObject = {"parentRefs": [{"name": "gateway"}], "rules": list[JsonValue](rules)}
    metadata = more.pop("metadata", {})
    return obj("HTTPRoute", name, {**spec, **more}, metadata=metadata)


def to_service(name: str, **more: JsonValue) -> JsonObject:
    return {"name": name, "port": 80, **more}


def service(name: str) -> JsonObject:
    return obj("Service", name, {"ports": [{"name": "serving", "port": 80}]})


def endpoint_slice(of_service: str, port: int, *addresses: str) -> JsonObject:
    return obj(
        "EndpointSlice",
        f"{of_service}-1",
        metadata={"labels": {"kubernetes.io/service-name": of_service}},
        ports=[{"name": "serving", "port": port}],
        endpoints=[{"addresses": [address], "conditions": {"ready": True}} for address in addresses],
    )


def health_policy(kind: str, name: str, **default: JsonValue) -> JsonObject:
    asked: JsonObject = {"requestPath": "/health", "portSpecification": "USE_SERVING_PORT"}
    quick: JsonObject = {
        "checkIntervalSec": 1,
        "timeoutSec": 1,
        "healthyThreshold": 1,
        "unhealthyThreshold": 1,
        "config": {"type": "HTTP", "httpHealthCheck": asked},
    }
    return _policy("HealthCheckPolicy", f"{name}-health", kind, name, merge(quick, default))


def backend_policy(kind: str, name: str, **default: JsonValue) -> JsonObject:
    return _policy("GCPBackendPolicy", f"{name}-backend", kind, name, default)


def _policy(policy: str, called: str, kind: str, name: str, default: JsonObject) -> JsonObject:
    group = "inference.networking.k8s.io" if kind == "InferencePool" else ""
    return obj(policy, called, {"targetRef": {"group": group, "kind": kind, "name": name}, "default": default})
