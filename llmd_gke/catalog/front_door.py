"""The facts about the front door: Envoy Gateway with Envoy AI Gateway in front of all models.

Sources: envoyproxy/gateway v1.8.3 (``api/v1alpha1``, ``internal/infrastructure/kubernetes/proxy``,
``internal/gatewayapi/translator.go``), envoyproxy/ai-gateway v1.0.0 (``internal/controller``,
``internal/internalapi``), llm-d/llm-d-router v0.9.0 (headers of the endpoint picker).
"""

from __future__ import annotations

from collections.abc import Mapping

CRDS_CHART = "front-door-crds"
"""Our own chart, in the folder ``charts``. Upstream's ``gateway-crds-helm`` cannot be a Helm release: Helm keeps charts
in Secrets of at most 1 MiB, and that one needs 1.8 MB (envoyproxy/gateway#6105)."""
GATEWAY_CHART = "gateway-helm"
AI_CRDS_CHART = "ai-gateway-crds-helm"
AI_GATEWAY_CHART = "ai-gateway-helm"

FLOOR = "1.8.2"
"""The oldest Envoy Gateway that works: 1.8.0 and 1.8.1 reject every rate limit on Kubernetes 1.36
(envoyproxy/gateway#9186), and count no tokens in limits that are shared."""
AI_FLOOR = "1.0.0"
PROXY_IMAGE = "front-door-envoy"

GATEWAY_GROUP = "gateway.envoyproxy.io"
GATEWAY_VERSION = f"{GATEWAY_GROUP}/v1alpha1"
AI_GROUP = "aigateway.envoyproxy.io"
AI_VERSION = f"{AI_GROUP}/v1beta1"
CONTROLLER_NAME = "gateway.envoyproxy.io/gatewayclass-controller"
OBJECTIVE_GROUP = "llm-d.ai"
OBJECTIVE_VERSION = f"{OBJECTIVE_GROUP}/v1alpha2"
"""InferenceObjective of the endpoint picker from 0.9 on (llm-d/llm-d-router ``config/crd/bases``)."""

NAMESPACE = "front-door"
"""Namespace of the Gateway, the keys and the policies. It has no pods."""
NAME = "front-door"
"""Name of the Gateway, its class, its EnvoyProxy, and the Service in front of the Envoys."""
PROXIES_NAMESPACE = "envoy-gateway-system"
"""Namespace of Envoy Gateway and of the Envoys that it starts."""
AI_NAMESPACE = "envoy-ai-gateway-system"

KEYS_SECRET = "caller-keys"  # noqa: S105 - the name of an object
IAP_SECRET, IAP_SECRET_ENTRY = "iap-client", "key"
"""The OAuth client's secret: in the Service's namespace, under the name ``key``
(https://cloud.google.com/kubernetes-engine/docs/how-to/configure-gateway-resources#configure_iap)."""
DRAINING_SECONDS = 300
"""Time in which a proxy that terminates finishes its running requests: an answer may take minutes."""
IDLE_SECONDS = 300
"""Idle time after which the proxies close a connection to a server: less than the server's
(:data:`llmd_gke.rules.environment.KEEP_ALIVE_SECONDS`), so that no request meets a server that is closing its
connection.
"""
LISTENER_PORT = 80
CONTAINER_PORT = 10080
"""Envoy Gateway adds 10000 to ports below 1024 (``wellKnownPortShift``)."""
READY_PORT = 19003
READY_PATH = "/ready"
LIMITER_TIMEOUT = "250ms"
"""Time limit of an Envoy's question to the limiter. Envoy Gateway's default of 20 ms (``RateLimit.timeout``) is shorter
than a pause of a busy node: then requests are served without being counted, or refused if ``whenLimiterIsAway`` says
so. A model needs longer than 250 ms for its first token anyway."""
AI_METRICS_PORT = 1064
"""Port of the metrics of AI Gateway's sidecar: token usage by caller and model."""
METRICS_JOB = "front-door"
"""Name of the PodMonitoring that reads it; Prometheus has it as the label ``job``."""
XDS_PORT = 18000
LIMITER = "envoy-ratelimit"
LIMITER_PORT = 8081
AI_GRPC_PORT = 1063
AI_WEBHOOK_PORT = 9443
REDIS = "front-door-redis"
REDIS_PORT = 6379

SIDECAR = "ai-gateway-extproc"
"""The container that AI Gateway's webhook adds to each Envoy; without it Envoy answers 500
(``extProcContainerName`` in envoyproxy/ai-gateway ``internal/controller/gateway_mutator.go`` 1.0.0).
"""
PROXY_LABELS = {
    "app.kubernetes.io/component": "proxy",
    "app.kubernetes.io/managed-by": "envoy-gateway",
    "gateway.envoyproxy.io/owning-gateway-name": NAME,
    "gateway.envoyproxy.io/owning-gateway-namespace": NAMESPACE,
}
LIMITER_LABELS = {"app.kubernetes.io/name": LIMITER}

KEPT_ANNOTATION = "llmd-gke/kept-beside-front-door"
"""Annotation of model routes at the load balancer that are kept for a transition."""

CALLER_HEADER = "x-llm-caller"
AI_HEADERS = "x-ai-eg-"
"""Prefix of AI Gateway's own headers (``EnvoyAIGatewayHeaderPrefix`` in envoyproxy/ai-gateway v1.0.0
``internal/internalapi``). Of a request without a body it sets none, and reads the client's: a forged
``x-ai-eg-original-path`` ends its process (``internal/extproc/server.go``)."""
MODEL_HEADER = f"{AI_HEADERS}model"
"""Set by AI Gateway from the request's body."""
SHARE_HEADER = "x-llm-share"
"""Set by the door's script for models with versions: which hundredth of their requests, 0 to 99, a request is in."""
FAIRNESS_HEADERS = ("x-gateway-inference-fairness-id", "x-llm-d-inference-fairness-id")
OBJECTIVE_HEADERS = ("x-gateway-inference-objective", "x-llm-d-inference-objective")
"""Headers by which the picker tells callers and priorities apart; the second of a pair from llm-d-router 0.9 on."""
PRIVATE_HEADERS = (
    CALLER_HEADER,
    *OBJECTIVE_HEADERS,
    *FAIRNESS_HEADERS,
    "x-gateway-model-name-rewrite",
    "x-gateway-destination-endpoint",
    "x-gateway-destination-endpoint-subset",
)
"""Headers that clients must not set, beside those that begin with :data:`AI_HEADERS`: the front door removes them."""

USAGE_NAMESPACE = "io.envoy.ai_gateway"
USAGE_KEY = "llm_total_token"
"""Metadata key under which AI Gateway stores an answer's number of tokens, for the limits."""

FORCED_USAGE, UNFORCED_USAGE = "--enable-force-include-usage", "--no-enable-force-include-usage"
"""Arguments of vLLM: whether streams report their tokens to clients that did not ask, too."""

PICKER_MESSAGE_BYTES = 32 * 1024 * 1024
"""AI Gateway sends a body to the endpoint picker in one gRPC message; gRPC's own limit is 4 MiB."""
PICKER_READINESS: Mapping[str, int] = {"initialDelaySeconds": 1, "periodSeconds": 2}
"""When a started picker is asked whether it is ready, in seconds. KServe's preset waits 30 first (kserve v0.20.0
``config/llmisvcconfig/config-llm-scheduler.yaml``), and the door answers 503 for the model until then. The picker is
ready once it has read its pool. Not 0: KServe's merge takes that for an absent value."""
PICKER_MESSAGE_FLAG = "--grpc-max-recv-msg-size"

MOST_RULES = 256
"""Maximum number of rules of one global rate limit (``RateLimitRule``)."""
MOST_COUNT = 2**32 - 1
"""Largest limit: the rate limiter counts with 32 bits."""
SHORTEST_KEY = 32
"""Minimum length of a caller's key, characters."""
