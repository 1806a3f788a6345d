"""Resources by what they are, for tests about the graph."""

from __future__ import annotations

from collections.abc import Callable

from llmd_gke.catalog import kserve
from llmd_gke.graph.recording import Graph, ResourceNode

Select = Callable[[Graph], list[ResourceNode]]

GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"
GATEWAY_CLASS = "kubernetes:gateway.networking.k8s.io/v1:GatewayClassPatch"
POOL_API = "kubernetes:apiregistration.k8s.io/v1:APIServicePatch"
ROUTE = "kubernetes:gateway.networking.k8s.io/v1:HTTPRoute"
SERVICE = f"kubernetes:{kserve.API_VERSION}:{kserve.SERVICE}"
CONFIG = f"kubernetes:{kserve.API_VERSION}:{kserve.CONFIG}"
HEALTH = "kubernetes:networking.gke.io/v1:HealthCheckPolicy"
BACKEND = "kubernetes:networking.gke.io/v1:GCPBackendPolicy"
NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
NAMESPACE = "kubernetes:core/v1:Namespace"
SECRET = "kubernetes:core/v1:Secret"
RELEASE = "kubernetes:helm.sh/v3:Release"
CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"
VPC = "gcp:compute/network:Network"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
ADDRESS = "gcp:compute/address:Address"
API = "gcp:projects/service:Service"
ROLE = "gcp:projects/iAMMember:IAMMember"
GOOGLE_PROVIDER = "pulumi:providers:gcp"
KUBERNETES_PROVIDER = "pulumi:providers:kubernetes"
STACK = "pulumi:pulumi:Stack"


def of(type_: str) -> Select:
    return lambda graph: [node for node in graph.nodes.values() if node.type == type_]


def without_scraping(type_: str) -> Select:
    """Every resource of that type that is not there for the collectors of metrics."""
    return lambda graph: [node for node in of(type_)(graph) if "llmd-gke:monitoring:Scraping" not in node.parent]


def chart(name: str) -> Select:
    return lambda graph: [node for node in of(RELEASE)(graph) if node.inputs["name"] == name]


def proxy_subnet(graph: Graph) -> list[ResourceNode]:
    """The subnet that GKE's regional gateways send requests from."""
    return [node for node in of(SUBNET)(graph) if node.inputs.get("purpose") == "REGIONAL_MANAGED_PROXY"]


def model_namespace(graph: Graph) -> list[ResourceNode]:
    return [node for node in of(NAMESPACE)(graph) if "llmd-gke:models:ModelNamespace" in node.parent]


def gateway_namespace(graph: Graph) -> list[ResourceNode]:
    return [node for node in of(NAMESPACE)(graph) if "llmd-gke:edge:Edge" in node.parent]


def system_pool(graph: Graph) -> list[ResourceNode]:
    return [node for node in of(NODE_POOL)(graph) if node.inputs["name"] == "system"]


def tpu_pool(graph: Graph) -> list[ResourceNode]:
    return [node for node in of(NODE_POOL)(graph) if node.inputs["name"] != "system"]


def everything_in_kubernetes(graph: Graph) -> list[ResourceNode]:
    return [node for node in graph.nodes.values() if node.custom and node.type.startswith("kubernetes:")]


def everything_in_google_cloud(graph: Graph) -> list[ResourceNode]:
    return [node for node in graph.nodes.values() if node.custom and node.type.startswith("gcp:")]


def metadata(node: ResourceNode, key: str) -> object:
    result = node.inputs["metadata"]
    assert isinstance(result, dict)
    return result.get(key)


def spec(node: ResourceNode) -> dict[str, object]:
    result = node.inputs["spec"]
    assert isinstance(result, dict)
    return result


def is_named(node: ResourceNode, type_: str, name: str) -> bool:
    return node.type == type_ and metadata(node, "name") == name


def is_in(node: ResourceNode, namespaces: frozenset[str]) -> bool:
    result = node.inputs.get("metadata")
    return node.custom and isinstance(result, dict) and result.get("namespace") in namespaces
