"""Objects that the tests of the policies build on, as YAML."""

from __future__ import annotations

POOL_BACKEND = "backendRefs: [{group: inference.networking.k8s.io, kind: InferencePool, name: qwen-inference-pool}]"


def route_yaml(rule: str, parent: str = "{name: inference-gateway, namespace: inference-gateway}") -> str:
    return f"""\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: qwen, namespace: models}}
spec:
  parentRefs: [{parent}]
  rules:
    - {rule}
"""


GOOD_ROUTE = route_yaml(
    "{matches: [{path: {type: PathPrefix, value: /models/qwen}}], filters: [{type: URLRewrite, urlRewrite: "
    "{hostname: qwen.example.com, path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}], " + POOL_BACKEND + "}"
)


def service_yaml(
    router: str = "{route: {http: {refs: [{name: qwen-route}]}}}", more: str = "", uri: str = "hf://Qwen/Qwen3-4B"
) -> str:
    """A service whose route is made elsewhere."""
    return f"""\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {{name: qwen, namespace: models}}
spec:
  model: {{uri: "{uri}"}}
  router: {router}
{more}"""


def policy_yaml(kind: str, default: str, target: str = "pool") -> str:
    """A policy on the InferencePool or Service of a model called qwen."""
    reference = (
        "{group: inference.networking.k8s.io, kind: InferencePool, name: qwen-inference-pool}"
        if target == "pool"
        else '{group: "", kind: Service, name: qwen-kserve-workload-svc}'
    )
    return f"""\
apiVersion: networking.gke.io/v1
kind: {kind}
metadata: {{name: qwen-{kind.lower()}-{target}, namespace: models}}
spec:
  targetRef: {reference}
  default: {default}
"""


GOOD_DEFAULT = (
    "{checkIntervalSec: 15, timeoutSec: 5, config: {type: HTTP, httpHealthCheck: "
    "{requestPath: /health, port: 8000, portSpecification: USE_FIXED_PORT}}}"
)

GOOD_CHECK = policy_yaml("HealthCheckPolicy", GOOD_DEFAULT)

GOOD_TIMEOUT = policy_yaml("GCPBackendPolicy", "{timeoutSec: 600}")

GATEWAY_YAML = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: inference-gateway, namespace: inference-gateway}
spec:
  gatewayClassName: gke-l7-regional-external-managed
  listeners:
    - {name: http, protocol: HTTP, port: 80}
"""

POOL_YAML = """\
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {name: shared, namespace: models}
spec:
  selector: {matchLabels: {app: vllm}}
  targetPorts: [{number: 8000}]
"""
