"""Istio's Gateway: its class, names and ports, and what stands in the place of GKE's policies.

Sources: istio/istio @eed52ebb (1.31), ``pilot/pkg/config/kube/gateway`` and
``manifests/charts/istio-control/istio-discovery``, whose ``files/kube-gateway.yaml`` is what a Gateway becomes.
"""

from __future__ import annotations

from llmd_gke.catalog import existing
from llmd_gke.catalog.metrics import Istio
from llmd_gke.gateways.gateway import Proxies
from llmd_gke.json_types import Json, JsonObject, kubernetes_object

CLASS = "istio"
"""The GatewayClass, which istiod creates."""

CONTROLLER_NAME = "istio.io/gateway-controller"
"""Of a GatewayClass whose Gateways Istio's proxies serve (``pkg/config/constants``)."""

NAMESPACE = existing.ISTIO.namespace
BASE_CHART, CNI_CHART, CONTROLLER_CHART = "istio-base", "istio-cni", "istiod"
CNI_NAMESPACE = "kube-system"
"""istio-cni needs the host's network and files, which no level of Pod Security but ``privileged`` admits
(https://istio.io/latest/docs/setup/additional-setup/cni/)."""

XDS_PORT, WEBHOOK_PORT = 15012, 15017
"""Of istiod: for proxies (mTLS), and for the API server."""
METRICS_PORT, METRICS_PATH = 15020, "/stats/prometheus"
"""Of every proxy's agent."""

PROXIES = Proxies(
    controller=CONTROLLER_NAME,
    gateway_class=CLASS,
    service_type="networking.istio.io/service-type",  # ``pkg/config/kube/gatewaycommon/deploymentcontroller.go``
    container="istio-proxy",
    logs="https://istio.io/latest/docs/tasks/observability/logs/access-log/",
    status="jsonPayload.response_code",
    why="jsonPayload.response_flags",
    slow="jsonPayload.duration>30000",
    requests=Istio.REQUESTS,
    milliseconds=Istio.MILLISECONDS,
    code="response_code",
)

SIDECAR: JsonObject = {"sidecar.istio.io/inject": "true"}
"""Label of pods that istiod's webhook gives a sidecar, in any namespace."""

INTERNAL: JsonObject = {"networking.gke.io/load-balancer-type": "Internal"}
GLOBAL_ACCESS: JsonObject = {"networking.gke.io/internal-load-balancer-allow-global-access": "true"}
EXTERNAL: JsonObject = {"cloud.google.com/l4-rbs": "enabled", "cloud.google.com/network-tier": "Standard"}
"""Annotations of the Service, by which GKE makes a passthrough load balancer; istiod copies them from the Gateway's
``infrastructure``. The network tier is that of the reserved address
(https://cloud.google.com/kubernetes-engine/docs/concepts/service-load-balancer-parameters)."""

TLS_FLOOR = "1.2"
"""The oldest TLS of an Istio Gateway, which cannot be set for each (``pilot/pkg/networking/core/listener.go``)."""


def address(ip: str) -> JsonObject:
    """An entry of ``spec.addresses``: it becomes ``loadBalancerIP`` of the Service."""
    return {"type": "IPAddress", "value": ip}


def picker_rule(name: str, namespace: str, service: str) -> JsonObject:
    """The DestinationRule by which a gateway talks TLS to a model's endpoint picker.

    Without it istiod configures plain HTTP/2, the picker ends each connection, and every completion is a 500, also with
    ``failureMode: FailOpen``. The picker signs its certificate itself
    (kubernetes-sigs/gateway-api-inference-extension ``config/charts/inferencepool/templates/istio.yaml``).
    """
    tls: JsonObject = {"mode": "SIMPLE", "insecureSkipVerify": True}
    spec: JsonObject = {"host": f"{service}.{namespace}.svc.cluster.local", "trafficPolicy": {"tls": tls}}
    return kubernetes_object("networking.istio.io/v1", "DestinationRule", f"{name}-picker", namespace, spec=spec)


def access_log(namespace: str) -> JsonObject:
    """The Telemetry that makes the proxies of a namespace log requests. Not of the whole mesh: a picker reads each
    server's metrics twenty times a second.
    """
    spec: JsonObject = {"accessLogging": [{"providers": [{"name": "envoy"}]}]}
    return kubernetes_object("telemetry.istio.io/v1", "Telemetry", "access-log", namespace, spec=spec)


def mesh(name: str, namespace: str, labels: JsonObject, gateway: str, metrics: int | None) -> dict[str, JsonObject]:
    """What makes servers with a sidecar take requests of the Gateway only, by the suffix of their resources' names.
    ``gateway``: NAMESPACE/NAME of the Gateway, whose proxies' account istiod names after it. ``metrics``: the port at
    which GKE reads a chip's memory.

    The endpoint picker and Prometheus read the servers by pod address and without a certificate: PERMISSIVE is said for
    a mesh whose default is STRICT.
    """
    space, _, called = gateway.partition("/")
    principal = f"cluster.local/ns/{space}/sa/{called}-{CLASS}"
    selector: JsonObject = {"matchLabels": labels}
    rules: list[Json] = [
        {"from": [{"source": {"principals": [principal]}}]},
        {"to": [{"operation": {"methods": ["GET"], "paths": ["/metrics", "/health"]}}]},
    ]
    if metrics is not None:
        rules.append({"to": [{"operation": {"ports": [str(metrics)]}}]})
    specs: dict[str, tuple[str, JsonObject]] = {
        "mtls": ("PeerAuthentication", {"selector": selector, "mtls": {"mode": "PERMISSIVE"}}),
        "callers": ("AuthorizationPolicy", {"selector": selector, "action": "ALLOW", "rules": rules}),
    }
    return {
        key: kubernetes_object("security.istio.io/v1", kind, name, namespace, spec=spec)
        for key, (kind, spec) in specs.items()
    }
