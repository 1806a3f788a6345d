"""Helm charts of the front door and their values.

Value names: ``charts/gateway-helm/values.tmpl.yaml`` of envoyproxy/gateway v1.8.3 and
``manifests/charts/ai-gateway-helm/values.yaml`` of envoyproxy/ai-gateway v1.0.0.
"""

from __future__ import annotations

from llmd_gke.catalog import front_door, registries, versions
from llmd_gke.catalog.registries import NONE, Mirrors
from llmd_gke.json_types import JsonObject
from llmd_gke.manifests.charts import Release, release
from llmd_gke.settings import FrontDoorSettings

GATEWAY_IMAGE = "docker.io/envoyproxy/gateway"
AI_IMAGE = "docker.io/envoyproxy/ai-gateway-controller"
SIDECAR_IMAGE = "docker.io/envoyproxy/ai-gateway-extproc"

_RESTRICTED: JsonObject = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "runAsUser": 65532,
    "runAsGroup": 65532,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_BY_CALLER = f"{front_door.CALLER_HEADER}:caller"


def crds() -> Release:
    """Envoy Gateway's CRDs and that of InferenceObjective, from our own chart, a folder of this repository.

    The chart also has four kinds of the Gateway API that Envoy Gateway cannot start without. GKE's add-on lacks some;
    Helm installs the missing ones, and never changes or removes them (``tests/schema/record_front_door.py``).
    """
    version = versions.chart(front_door.GATEWAY_CHART).version
    # A chart of ours has a version of its own; `llmd-gke upgrade` reads here which one of Envoy Gateway it is for.
    values: JsonObject = {"recordedFrom": version}
    chart = f"./charts/{front_door.CRDS_CHART}"
    return Release(front_door.CRDS_CHART, front_door.PROXIES_NAMESPACE, chart, None, values)


def ai_crds(folder: str | None = None, mirrors: Mirrors = NONE) -> Release:
    """Envoy AI Gateway's CRDs."""
    return release(front_door.AI_CRDS_CHART, front_door.AI_NAMESPACE, folder, mirrors)


def gateway(door: FrontDoorSettings, folder: str | None = None, mirrors: Mirrors = NONE, *, redis: str = "") -> Release:
    """Envoy Gateway. ``redis`` is the HOST:PORT of the Redis in which limits are counted; without limits there is no
    rate limiter.

    GKE installs the Gateway API's CRDs, so the chart must not (envoyproxy/gateway#9004). The injector of topology
    labels is disabled: it would be one more webhook that can block the start of pods.
    """
    version = versions.chart(front_door.GATEWAY_CHART).version
    images: JsonObject = {
        "envoyGateway": {"image": f"{registries.at(GATEWAY_IMAGE, mirrors.images)}:{version}"},
        "ratelimit": {"image": registries.at(versions.image("front-door-limiter"), mirrors.images)},
    }
    values: JsonObject = {
        "crds": {"enabled": False},
        "topologyInjector": {"enabled": False},
        "global": {"images": images},
        "deployment": {"replicas": 2},
        "podDisruptionBudget": {"minAvailable": 1},
        "config": {"envoyGateway": _configuration(door, redis)},
    }
    return release(front_door.GATEWAY_CHART, front_door.PROXIES_NAMESPACE, folder, mirrors, values)


def _configuration(door: FrontDoorSettings, redis: str) -> JsonObject:
    """Envoy Gateway's configuration, with AI Gateway as an extension of the translation
    (``examples/inference-pool/envoy-gateway-values-addon.yaml``).
    """
    every: JsonObject = {"includeAll": True}
    translation: JsonObject = dict.fromkeys(("listener", "route", "cluster", "secret"), every)
    pool: JsonObject = {"group": "inference.networking.k8s.io", "kind": "InferencePool", "version": "v1"}
    host = f"ai-gateway-controller.{front_door.AI_NAMESPACE}.svc.cluster.local"
    configuration: JsonObject = {
        "gateway": {"controllerName": front_door.CONTROLLER_NAME},
        "provider": {"type": "Kubernetes"},
        "logging": {"level": {"default": "info"}},
        "extensionApis": {"enableBackend": True, "enableEnvoyPatchPolicy": door.counts_tokens},
        "extensionManager": {
            "backendResources": [pool],
            "hooks": {"xdsTranslator": {"translation": translation, "post": ["Translation", "Cluster", "Route"]}},
            "service": {"fqdn": {"hostname": host, "port": front_door.AI_GRPC_PORT}},
        },
    }
    if door.has_limits:
        configuration["rateLimit"] = {
            "failClosed": door.when_limiter_is_away == "refuse",
            "timeout": front_door.LIMITER_TIMEOUT,
            "backend": {"type": "Redis", "redis": {"url": redis}},
        }
    return configuration


def ai_gateway(folder: str | None = None, mirrors: Mirrors = NONE) -> Release:
    """Envoy AI Gateway. Its webhook, whose certificate is cert-manager's, adds the sidecar to the Envoys' pods."""
    version = versions.chart(front_door.AI_GATEWAY_CHART).version
    values: JsonObject = {
        "extProc": {"image": {"repository": registries.at(SIDECAR_IMAGE, mirrors.images), "tag": version}},
        "controller": {
            "image": {"repository": registries.at(AI_IMAGE, mirrors.images), "tag": version},
            "replicaCount": 2,
            # The usage of each caller, in metrics and in the access log.
            "metricsRequestHeaderAttributes": _BY_CALLER,
            "logRequestHeaderAttributes": _BY_CALLER,
            "mutatingWebhook": {"certManager": {"enable": True}},
            "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
            "securityContext": _RESTRICTED,
        },
    }
    return release(front_door.AI_GATEWAY_CHART, front_door.AI_NAMESPACE, folder, mirrors, values)
