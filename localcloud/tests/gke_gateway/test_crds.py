"""Our definitions of GKE's policies accept and refuse what the published ones do."""

from __future__ import annotations

from typing import cast

import pytest

from localcloud.gke_gateway.crds import gke
from localcloud.providers.protocol.values import JsonObject, JsonValue, merge
from tests.schema.rules import broken
from tests.schema.structural import Table, errors, version_schema

VERSION = "networking.gke.io/v1"


def check(**config: JsonValue) -> JsonObject:
    return {"default": {"checkIntervalSec": 15, "timeoutSec": 5, "config": config}}


def http(**block: JsonValue) -> JsonObject:
    return check(type="HTTP", httpHealthCheck=block)


def times(**given: JsonValue) -> JsonObject:
    return {"default": given}


FIXED: JsonObject = {"portSpecification": "USE_FIXED_PORT", "port": 8000, "requestPath": "/health"}

ACCEPTED: list[tuple[str, JsonObject]] = [
    ("HealthCheckPolicy", {}),
    ("HealthCheckPolicy", http(**FIXED)),
    ("HealthCheckPolicy", http(portSpecification="USE_SERVING_PORT", requestPath="/health")),
    ("HealthCheckPolicy", http(portSpecification="USE_NAMED_PORT", portName="http")),
    ("HealthCheckPolicy", check(type="GRPC", grpcHealthCheck={"portSpecification": "USE_FIXED_PORT", "port": 9003})),
    ("HealthCheckPolicy", check(type="TCP", tcpHealthCheck={"portSpecification": "USE_SERVING_PORT"})),
    ("HealthCheckPolicy", check(type="HTTPS", httpsHealthCheck={**FIXED, "host": "a.example.com"})),
    ("HealthCheckPolicy", times(checkIntervalSec=5)),
    ("HealthCheckPolicy", times(timeoutSec=5)),
    ("HealthCheckPolicy", times(checkIntervalSec=2, timeoutSec=2, healthyThreshold=10, unhealthyThreshold=1)),
    ("HealthCheckPolicy", times(logConfig={"enabled": True})),
    ("GCPBackendPolicy", times(timeoutSec=3600, connectionDraining={"drainingTimeoutSec": 0})),
    ("GCPBackendPolicy", times(logging={"enabled": True, "sampleRate": 1000000}, securityPolicy="armor")),
    ("GCPBackendPolicy", times(sessionAffinity={"type": "CLIENT_IP"}, backendPreference="PREFERRED")),
    ("GCPGatewayPolicy", times(sslPolicy="modern", allowGlobalAccess=True, region="europe-west4")),
]

REFUSED: list[tuple[str, JsonObject]] = [
    ("HealthCheckPolicy", http(port=8000, requestPath="/health")),
    ("HealthCheckPolicy", http(requestPath="/health")),
    ("HealthCheckPolicy", http(portSpecification="USE_FIXED_PORT", requestPath="/health")),
    ("HealthCheckPolicy", http(portSpecification="USE_SERVING_PORT", port=8000)),
    ("HealthCheckPolicy", http(portSpecification="USE_NAMED_PORT")),
    ("HealthCheckPolicy", http(**{**FIXED, "requestPath": "health"})),
    ("HealthCheckPolicy", http(**{**FIXED, "port": 0})),
    ("HealthCheckPolicy", http(**{**FIXED, "proxyHeader": "PROXY_V2"})),
    ("HealthCheckPolicy", http(**{**FIXED, "unknown": 1})),
    ("HealthCheckPolicy", check(type="HTTP", httpsHealthCheck=FIXED)),
    ("HealthCheckPolicy", check(type="HTTP")),
    ("HealthCheckPolicy", check(httpHealthCheck=FIXED)),
    ("HealthCheckPolicy", check(type="HTTP", httpHealthCheck=FIXED, tcpHealthCheck=FIXED)),
    ("HealthCheckPolicy", check(type="GRPC", grpcHealthCheck=FIXED)),
    ("HealthCheckPolicy", times(checkIntervalSec=5, timeoutSec=6)),
    ("HealthCheckPolicy", times(timeoutSec=6)),
    ("HealthCheckPolicy", times(checkIntervalSec=0)),
    ("HealthCheckPolicy", times(healthyThreshold=11)),
    ("HealthCheckPolicy", {"targetRef": {"kind": "Service", "name": "models"}}),
    ("HealthCheckPolicy", {"targetRef": None}),
    ("GCPBackendPolicy", times(timeoutSec=0)),
    ("GCPBackendPolicy", times(timeoutSec="300")),
    ("GCPBackendPolicy", times(connectionDraining={"drainingTimeoutSec": 3601})),
    ("GCPBackendPolicy", times(logging={"sampleRate": 1000001})),
    ("GCPBackendPolicy", times(sessionAffinity={"type": "COOKIE"})),
    ("GCPBackendPolicy", times(protocol="HTTP")),
    ("GCPGatewayPolicy", times(sslPolicy=1)),
]


def refusals(definition: Table, kind: str, spec: JsonObject) -> list[str]:
    schema = version_schema(definition, VERSION)
    target: JsonObject = {"targetRef": {"group": "", "kind": "Service", "name": "models"}}
    full = spec if "targetRef" in spec else merge(target, spec)
    cleaned: JsonObject = {key: value for key, value in full.items() if value is not None}
    obj: Table = {"apiVersion": VERSION, "kind": kind, "metadata": {"name": "p"}, "spec": dict(cleaned)}
    # What is of the wrong shape is refused before any rule looks at it.
    return errors(obj, schema) or broken(obj, schema)


@pytest.mark.parametrize(
    ("kind", "spec", "accepted"), [*((*one, True) for one in ACCEPTED), *((*one, False) for one in REFUSED)]
)
def test_a_policy_is_accepted_or_refused_as_gke_does(kind: str, spec: JsonObject, accepted: bool) -> None:
    assert (refusals(cast("Table", gke.definition(kind)), kind, spec) == []) is accepted
