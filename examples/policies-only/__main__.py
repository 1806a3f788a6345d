"""A Gateway and a route to a Service that exists already: nothing here comes from llmd-gke but the policies."""

import pulumi
import pulumi_kubernetes as k8s
from pulumi_kubernetes.apiextensions import CustomResource

config = pulumi.Config()
provider = k8s.Provider("cluster", kubeconfig=config.get("kubeconfig") or "~/.kube/config", cluster_identifier="mine")
opts = pulumi.ResourceOptions(provider=provider)

CustomResource(
    "gateway",
    api_version="gateway.networking.k8s.io/v1",
    kind="Gateway",
    metadata={"name": "inference-gateway", "namespace": "models"},
    spec={
        "gatewayClassName": "gke-l7-rilb",
        "listeners": [{"name": "http", "protocol": "HTTP", "port": 80}],
    },
    opts=opts,
)

CustomResource(
    "route",
    api_version="gateway.networking.k8s.io/v1",
    kind="HTTPRoute",
    metadata={"name": "vllm", "namespace": "models"},
    spec={
        "parentRefs": [{"name": "inference-gateway"}],
        "rules": [{"backendRefs": [{"name": "vllm", "port": 8000}]}],
    },
    opts=opts,
)

CustomResource(
    "health",
    api_version="networking.gke.io/v1",
    kind="HealthCheckPolicy",
    metadata={"name": "vllm", "namespace": "models"},
    spec={
        "targetRef": {"group": "", "kind": "Service", "name": "vllm"},
        "default": {
            "config": {
                "type": "HTTP",
                "httpHealthCheck": {"requestPath": "/health", "port": 8000, "portSpecification": "USE_FIXED_PORT"},
            }
        },
    },
    opts=opts,
)
