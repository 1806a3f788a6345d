"""GKE's kinds that the program uses, as definitions of our own making.

Fields, limits and what is refused are those of GoogleCloudPlatform/gke-gateway-api ``config/crd`` @fc40d606, which is
not in any package registry; a test compares what both accept. Only documented fields are here.
"""

from __future__ import annotations

from collections.abc import Mapping

from localcloud.gke_gateway.crds import frame
from localcloud.gke_gateway.resources.objects import BACKEND_POLICY, GATEWAY_POLICY, GKE_GROUP, HEALTH_CHECK_POLICY
from localcloud.providers.protocol.values import JsonObject, JsonValue

_HOST = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_PATH = r"\/[A-Za-z0-9\/\-._~%!?$&'()*+,;=:]*$"
_CHECKS = {"TCP": "tcp", "HTTP": "http", "HTTPS": "https", "HTTP2": "http2", "GRPC": "grpc"}


def definitions() -> list[JsonObject]:
    """The CustomResourceDefinitions of GKE's kinds."""
    return [
        _definition(HEALTH_CHECK_POLICY, "healthcheckpolicies", _health_check()),
        _definition(BACKEND_POLICY, "gcpbackendpolicies", _backend()),
        _definition(GATEWAY_POLICY, "gcpgatewaypolicies", _gateway()),
    ]


def _definition(kind: str, plural: str, default: JsonObject) -> JsonObject:
    condition = _object(
        {
            "type": _text(),
            "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
            "reason": _text(),
            "message": _text(),
            "observedGeneration": {"type": "integer", "format": "int64"},
            "lastTransitionTime": {"type": "string", "format": "date-time"},
        },
        required=("type", "status", "reason", "message", "lastTransitionTime"),
    )
    conditions: JsonObject = {
        "type": "array",
        "items": condition,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    }
    spec = _object({"targetRef": _target(), "default": default}, required=("targetRef",))
    schema = frame.object_schema(spec, status=_object({"conditions": conditions}))
    return frame.definition(
        GKE_GROUP, kind, plural, schema=schema, labels={"gateway.networking.k8s.io/policy": "Direct"}
    )


def _object(
    properties: Mapping[str, JsonValue], *, required: tuple[str, ...] = (), rules: tuple[tuple[str, str], ...] = ()
) -> JsonObject:
    schema: JsonObject = {"type": "object", "properties": dict(properties)}
    if required:
        schema["required"] = list[JsonValue](required)
    if rules:
        schema["x-kubernetes-validations"] = [{"rule": rule, "message": message} for rule, message in rules]
    return schema


def _text(*, limit: int | None = None, pattern: str = "", shortest: int | None = None) -> JsonObject:
    schema: JsonObject = {"type": "string"}
    if limit is not None:
        schema["maxLength"] = limit
    if shortest is not None:
        schema["minLength"] = shortest
    if pattern:
        schema["pattern"] = pattern
    return schema


def _number(least: int, most: int) -> JsonObject:
    return {"type": "integer", "format": "int64", "minimum": least, "maximum": most}


def _one_of(*values: str) -> JsonObject:
    return {"type": "string", "enum": list[JsonValue](values)}


_BOOLEAN: JsonObject = {"type": "boolean"}


def _target() -> JsonObject:
    name = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
    return _object(
        {
            # Required, also where it is empty: the core group's, for a Service.
            "group": _text(limit=253, pattern=f"^$|{_HOST}"),
            "kind": _text(limit=63, shortest=1, pattern="^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$"),
            "name": _text(limit=253, shortest=1),
            "namespace": _text(limit=63, shortest=1, pattern=name),
        },
        required=("group", "kind", "name"),
    )


def _health_check() -> JsonObject:
    blocks: dict[str, JsonValue] = {f"{prefix}HealthCheck": _block(kind) for kind, prefix in _CHECKS.items()}
    # The type and exactly one block, that of the type.
    config = _object(
        {"type": _one_of(*_CHECKS), **blocks},
        required=("type",),
        rules=tuple(
            (f"self.type != '{kind}' || has(self.{prefix}HealthCheck)", f"type {kind} needs {prefix}HealthCheck")
            for kind, prefix in _CHECKS.items()
        ),
    )
    config |= {"minProperties": 2, "maxProperties": 2}
    return _object(
        {
            "checkIntervalSec": _number(1, 300),
            "timeoutSec": _number(1, 300),
            "healthyThreshold": _number(1, 10),
            "unhealthyThreshold": _number(1, 10),
            "logConfig": _object({"enabled": _BOOLEAN}),
            "config": config,
        },
        rules=(
            (
                "(has(self.timeoutSec) ? self.timeoutSec : 5) <= "
                "(has(self.checkIntervalSec) ? self.checkIntervalSec : 5)",
                "timeoutSec must not exceed checkIntervalSec (5 where one is not given)",
            ),
        ),
    )


def _block(kind: str) -> JsonObject:
    properties: dict[str, JsonValue] = {
        "port": _number(1, 65535),
        "portName": _text(limit=63, pattern="[a-z]([-a-z0-9]*[a-z0-9])?"),
        "portSpecification": _one_of("USE_FIXED_PORT", "USE_NAMED_PORT", "USE_SERVING_PORT"),
    }
    if kind == "GRPC":
        properties["grpcServiceName"] = _text(limit=1024)
    else:
        properties["proxyHeader"] = _one_of("NONE", "PROXY_V1")
        properties["response"] = _text(limit=1024)
    if kind == "TCP":
        properties["request"] = _text(limit=1024)
    if kind.startswith("HTTP"):
        properties["host"] = _text(limit=2048, pattern=_HOST)
        properties["requestPath"] = _text(limit=2048, pattern=_PATH)
    ports = {
        "USE_FIXED_PORT": "has(self.port) && !has(self.portName)",
        "USE_NAMED_PORT": "!has(self.port) && has(self.portName)",
        "USE_SERVING_PORT": "!has(self.port) && !has(self.portName)",
    }
    # Published rules read portSpecification without asking whether it is there: without it, an API server refuses.
    return _object(
        properties,
        required=("portSpecification",),
        rules=tuple(
            (f"self.portSpecification != '{way}' || ({rule})", f"{way} does not go with this port or portName")
            for way, rule in ports.items()
        ),
    )


def _backend() -> JsonObject:
    affinities = ("CLIENT_IP", "CLIENT_IP_PORT_PROTO", "CLIENT_IP_PROTO", "GENERATED_COOKIE", "HEADER_FIELD")
    return _object(
        {
            "backendPreference": _one_of("DEFAULT", "PREFERRED"),
            "connectionDraining": _object({"drainingTimeoutSec": _number(0, 3600)}),
            "iap": _object(
                {"enabled": _BOOLEAN, "clientID": _text(), "oauth2ClientSecret": _object({"name": _text()})}
            ),
            "logging": _object({"enabled": _BOOLEAN, "sampleRate": _number(0, 1_000_000)}),
            "maxRatePerEndpoint": _number(1, 1_000_000_000),
            "securityPolicy": _text(),
            "sessionAffinity": _object(
                {"type": _one_of(*affinities, "HTTP_COOKIE", "NONE"), "cookieTtlSec": _number(0, 1_209_600)}
            ),
            "timeoutSec": _number(1, 2**31 - 1),
        }
    )


def _gateway() -> JsonObject:
    return _object({"allowGlobalAccess": _BOOLEAN, "region": _text(), "sslPolicy": _text()})
