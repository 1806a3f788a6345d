"""The door itself: GatewayClass, EnvoyProxy, Gateway, and its policies.

Fields: envoyproxy/gateway v1.8.3 ``api/v1alpha1``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from llmd_gke.catalog import front_door, registries, versions
from llmd_gke.catalog.registries import NONE, Mirrors
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests.front_door import script, stopped
from llmd_gke.manifests.gateway import GATEWAY_API, NAMESPACE_NAME_LABEL
from llmd_gke.settings import FrontDoorSettings, ModelSettings
from llmd_gke.settings.sections.front_door import TokenIssuerSettings

TARGET: JsonObject = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": front_door.NAME}

FILTER_ORDER: JsonObject = {"name": "envoy.filters.http.custom_response", "after": "envoy.filters.http.ratelimit"}
"""AI Gateway puts its filter before the first of several, and custom responses would be the very first filter: AI
Gateway's filter would run before the keys are checked, answer ``/v1/models`` to everyone, and count usage without a
caller (envoyproxy/ai-gateway v1.0.0 ``insertAIGatewayExtProcFilter``)."""

ERRORS: Mapping[int, tuple[str, str, str, int | None]] = {
    401: (
        "invalid_request_error",
        "invalid_api_key",
        "No valid API key or token in the header `Authorization: Bearer KEY`.",
        None,
    ),
    403: ("invalid_request_error", "model_not_allowed", "You may not use this model.", None),
    404: (
        "invalid_request_error",
        "model_not_found",
        "There is no such model or path; GET /v1/models lists the models.",
        None,
    ),
    413: ("invalid_request_error", "request_too_large", "The request is too large.", None),
    429: (
        "rate_limit_error",
        "rate_limit_exceeded",
        "One of your limits is reached, or the model is saturated.",
        60,
    ),
    500: ("server_error", "service_unavailable", "The request could not be passed on to a replica of the model.", 10),
    502: ("server_error", "bad_gateway", "The model broke off the answer.", 5),
    503: ("server_error", "service_unavailable", "The model is not available.", 10),
    504: ("server_error", "timeout", "The model did not answer in time.", None),
}
"""By status: type, code and message of an error in OpenAI's form, and seconds for ``Retry-After``. A 400 is not here:
only the script can read its reason."""
INSTEAD: Mapping[int, int] = {500: 503}
"""Statuses that clients get as another one. Envoy answers 500 while an external processor is away: a model's endpoint
picker, AI Gateway's sidecar, the limiter if ``whenLimiterIsAway`` is ``refuse``. Its ``status_on_error`` cannot be set:
AI Gateway adds the pickers' filters after EnvoyPatchPolicy was applied (envoyproxy/ai-gateway#2502)."""
OWN_ERRORS = frozenset({500})
"""Statuses that are replaced only where the proxies or AI Gateway made them: a model's own say what went wrong."""


def _object(kind: str, name: str, spec: JsonObject, namespace: str | None = front_door.NAMESPACE) -> JsonObject:
    metadata: JsonObject = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    return {"apiVersion": front_door.GATEWAY_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def gateway_class() -> JsonObject:
    """The class of the door, with the settings of its Envoys."""
    parameters: JsonObject = {
        "group": front_door.GATEWAY_GROUP,
        "kind": "EnvoyProxy",
        "name": front_door.NAME,
        "namespace": front_door.NAMESPACE,
    }
    spec: JsonObject = {"controllerName": front_door.CONTROLLER_NAME, "parametersRef": parameters}
    metadata: JsonObject = {"name": front_door.NAME}
    return {"apiVersion": GATEWAY_API, "kind": "GatewayClass", "metadata": metadata, "spec": spec}


def envoy_proxy(door: FrontDoorSettings, mirrors: Mirrors = NONE, *, system_nodes: int = 1) -> JsonObject:
    """The Envoys: replicas on different nodes, an ordinary Service, an access log with the caller.

    ``system_nodes``: how many nodes for them always run. With several, a replica rather waits for its node: GKE's
    scheduler prefers nodes that are full already, and one node's failure would take the only way in.
    """
    labels: JsonObject = dict(front_door.PROXY_LABELS)
    spread: JsonObject = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway" if system_nodes < 2 else "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
    container: JsonObject = {
        "image": registries.at(versions.image(front_door.PROXY_IMAGE), mirrors.images),
        "resources": {"requests": {"cpu": "200m", "memory": "512Mi"}, "limits": {"memory": "2Gi"}},
    }
    kubernetes: JsonObject = {
        "envoyDeployment": {
            "name": front_door.NAME,
            "replicas": door.replicas,
            "container": container,
            "pod": {"topologySpreadConstraints": [spread]},
        },
        "envoyService": {"name": front_door.NAME, "type": "ClusterIP"},
    }
    if door.replicas > 1:
        kubernetes["envoyPDB"] = {"maxUnavailable": 1}
    return _object(
        "EnvoyProxy",
        front_door.NAME,
        {
            "provider": {"type": "Kubernetes", "kubernetes": kubernetes},
            "logging": {"level": {"default": "warn"}},
            "filterOrder": [FILTER_ORDER],
            "shutdown": {"drainTimeout": f"{front_door.DRAINING_SECONDS}s", "minDrainDuration": "15s"},
            "telemetry": {"accessLog": {"settings": [_access_log()]}},
        },
    )


def _access_log() -> JsonObject:
    fields: JsonObject = {
        "time": "%START_TIME%",
        "caller": f"%REQ({front_door.CALLER_HEADER})%",
        "model": f"%REQ({front_door.MODEL_HEADER})%",
        "method": "%REQ(:METHOD)%",
        # Without the query, in which some clients send their key.
        "path": "%REQ_WITHOUT_QUERY(X-ENVOY-ORIGINAL-PATH?:PATH)%",
        "status": "%RESPONSE_CODE%",
        "flags": "%RESPONSE_FLAGS%",
        "milliseconds": "%DURATION%",
        "bytes": "%BYTES_SENT%",
        "request": "%REQ(X-REQUEST-ID)%",
    }
    return {
        "format": {"type": "JSON", "json": fields},
        "sinks": [{"type": "File", "file": {"path": "/dev/stdout"}}],
    }


def gateway(namespaces: Sequence[str]) -> JsonObject:
    """The Gateway, open to the route of its own namespace and to those of the models' namespaces, which are named as
    at the load balancer.
    """
    values: list[Json] = [*sorted({front_door.NAMESPACE, *namespaces})]
    named: JsonObject = {"key": NAMESPACE_NAME_LABEL, "operator": "In", "values": values}
    listener: JsonObject = {
        "name": "http",
        "protocol": "HTTP",
        "port": front_door.LISTENER_PORT,
        "allowedRoutes": {
            "kinds": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}],
            "namespaces": {"from": "Selector", "selector": {"matchExpressions": [named]}},
        },
    }
    return {
        "apiVersion": GATEWAY_API,
        "kind": "Gateway",
        "metadata": {
            "name": front_door.NAME,
            "namespace": front_door.NAMESPACE,
            "annotations": {"pulumi.com/waitFor": "condition=Programmed"},
        },
        "spec": {"gatewayClassName": front_door.NAME, "listeners": [listener]},
    }


def callers(door: FrontDoorSettings) -> JsonObject:
    """The SecurityPolicy that identifies callers, by a key of the Secret or by a claim of a token. All others are
    rejected.
    """
    if isinstance(door.identity, TokenIssuerSettings):
        names: list[Json] = [caller.name for caller in door.callers]
        spec: JsonObject = {"jwt": {"providers": [_provider(door.identity)]}, "authorization": admitting(names)}
    else:
        spec = {
            "apiKeyAuth": {
                "credentialRefs": [{"group": "", "kind": "Secret", "name": front_door.KEYS_SECRET}],
                "extractFrom": [{"headers": ["Authorization"]}],
                "forwardClientIDHeader": front_door.CALLER_HEADER,
                "sanitize": True,
            }
        }
    return _object("SecurityPolicy", "callers", {"targetRefs": [TARGET], **spec})


def _provider(issuer: TokenIssuerSettings) -> JsonObject:
    audiences: list[Json] = [*issuer.audiences]
    # A scheme has no case, and Envoy compares the prefix with its case.
    schemes: list[Json] = [
        {"name": "Authorization", "valuePrefix": scheme} for scheme in ("Bearer ", "bearer ", "BEARER ")
    ]
    return {
        "name": "issuer",
        "issuer": issuer.issuer,
        "audiences": audiences,
        "remoteJWKS": {"uri": issuer.jwks_uri, "cacheDuration": "300s"},
        # Envoy Gateway's default also takes the query's access_token, which every proxy on the way logs.
        "extractFrom": {"headers": schemes},
        "claimToHeaders": [{"claim": issuer.caller_claim, "header": front_door.CALLER_HEADER}],
    }


def admitting(names: list[Json]) -> JsonObject:
    """Authorization that admits only these callers."""
    header: JsonObject = {"name": front_door.CALLER_HEADER, "values": names}
    return {"defaultAction": "Deny", "rules": [{"action": "Allow", "principal": {"headers": [header]}}]}


def clients(door: FrontDoorSettings) -> JsonObject:
    """The ClientTrafficPolicy: limits the size and the duration of request bodies, and removes headers that only the
    front door may set.

    AI Gateway reads a whole body to find the model's name, so Envoy's buffer bounds it.
    """
    early: JsonObject = {
        "remove": [*front_door.PRIVATE_HEADERS],
        "removeOnMatch": [{"type": "Prefix", "value": front_door.AI_HEADERS}],
    }
    return _object(
        "ClientTrafficPolicy",
        "clients",
        {
            "targetRefs": [TARGET],
            "connection": {"bufferLimit": f"{door.max_body_mb}Mi"},
            # The default rejects the request, before the check of keys, with a 503 of the load balancer.
            "headers": {"earlyRequestHeaders": early, "withUnderscoresAction": "DropHeader"},
            # The default redirects to the path with `/` instead of `%2f`, before the check of keys.
            "path": {"escapedSlashesAction": "RejectRequest"},
            # A slowly sent request occupies a buffer; answers have no time limit here.
            "timeout": {"http": {"requestReceivedTimeout": "120s"}},
        },
    )


def extension(door: FrontDoorSettings, models: Sequence[ModelSettings]) -> JsonObject:
    """The policy with the Lua script."""
    lua: list[Json] = [{"type": "Inline", "inline": script.code(door, models)}]
    return _object("EnvoyExtensionPolicy", "callers", {"targetRefs": [TARGET], "lua": lua})


def traffic(door: FrontDoorSettings, models: Sequence[ModelSettings]) -> JsonObject:
    """Limits by caller, over all models and Envoys; errors in OpenAI's form; when idle connections are closed."""
    errors: list[Json] = [_error(status, *error, instead=INSTEAD.get(status)) for status, error in ERRORS.items()]
    if stopped.some(models):
        errors.append(_error(stopped.STATUS, *stopped.ERROR, instead=503))
    idle: JsonObject = {"http": {"connectionIdleTimeout": f"{front_door.IDLE_SECONDS}s"}}
    spec: JsonObject = {"targetRefs": [TARGET], "responseOverride": errors, "timeout": idle}
    if door.has_limits:
        spec["rateLimit"] = {"type": "Global", "global": {"rules": list[Json](_limits(door))}}
    return _object("BackendTrafficPolicy", "limits", spec)


def _error(
    status: int, kind: str, code: str, message: str, retry_seconds: int | None, *, instead: int | None = None
) -> JsonObject:
    error = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    response: JsonObject = {
        "contentType": "application/json",
        "body": {"type": "Inline", "inline": json.dumps(error)},
    }
    if instead is not None:
        response["statusCode"] = instead
    if retry_seconds is not None:
        response["header"] = {"set": [{"name": "Retry-After", "value": str(retry_seconds)}]}
    match: JsonObject = {"statusCodes": [{"type": "Value", "value": status}]}
    source: JsonObject = {"source": "Local"} if status in OWN_ERRORS else {}
    return {"match": match, "response": response, **source}


def _limits(door: FrontDoorSettings) -> Iterator[JsonObject]:
    for caller in door.callers:
        if caller.requests_per_minute is not None:
            yield _limit(caller.name, caller.requests_per_minute, "Minute")
        for tokens, unit in ((caller.tokens_per_day, "Day"), (caller.tokens_per_month, "Month")):
            if tokens is not None:
                usage: JsonObject = {"namespace": front_door.USAGE_NAMESPACE, "key": front_door.USAGE_KEY}
                cost: JsonObject = {
                    "request": {"from": "Number", "number": 0},
                    "response": {"from": "Metadata", "metadata": usage},
                }
                yield {**_limit(caller.name, tokens, unit), "cost": cost}


def _limit(caller: str, count: int, unit: str) -> JsonObject:
    header: JsonObject = {"name": front_door.CALLER_HEADER, "type": "Exact", "value": caller}
    return {"clientSelectors": [{"headers": [header]}], "limit": {"requests": count, "unit": unit}, "shared": True}
