"""Kinds of objects, as rules name them. A kind that one topic alone needs may be a constant of that topic."""

from __future__ import annotations

from dataclasses import dataclass

from llmd_gke.catalog import compute_class, front_door, kserve
from llmd_gke.gateways import gke


@dataclass(frozen=True)
class Kind:
    """A kind of object: ``group`` is a Kubernetes API group (``""`` for core) or ``gcp``, ``name`` its kind."""

    group: str
    name: str


ANY_WORKLOAD = Kind("*", "any kind with a pod template")
"""Objects that contain pods, recognized by the shape of a pod template, whatever their kind."""

ANY_GOOGLE = Kind("gcp", "any Google Cloud resource")
"""Resources of the gcp package, and objects in a cluster that represent such resources."""

GOOGLE_GROUPS = (".cnrm.cloud.google.com", ".gcp.upbound.io", ".gcp.m.upbound.io", ".gcp.crossplane.io")
"""Suffixes of the API groups of Config Connector and of Crossplane's Google providers."""

ANY_POLICY = Kind("*", "any kind with a target")
"""Objects that refer to a target or to backends in the Gateway API's way, whatever their kind."""

MANIFEST = Kind("*", "text of a bundle")
"""A part of a ConfigGroup or ConfigFile that cannot be read."""

HTTP_ROUTE = Kind("gateway.networking.k8s.io", "HTTPRoute")
OTHER_ROUTES = tuple(Kind("gateway.networking.k8s.io", name) for name in ("GRPCRoute", "TCPRoute", "TLSRoute"))
GATEWAY_CLASS = Kind("gateway.networking.k8s.io", "GatewayClass")
GATEWAY = Kind("gateway.networking.k8s.io", "Gateway")
LLM_SERVICE = Kind(kserve.GROUP, kserve.SERVICE)
LLM_SERVICE_CONFIG = Kind(kserve.GROUP, kserve.CONFIG)
POOL = Kind("inference.networking.k8s.io", "InferencePool")
ALPHA_POOL = Kind("inference.networking.x-k8s.io", "InferencePool")
HEALTH_CHECK = Kind(gke.HEALTH_CHECK.group, gke.HEALTH_CHECK.kind)
BACKEND_POLICY = Kind(gke.BACKEND_POLICY.group, gke.BACKEND_POLICY.kind)
GKE_POLICIES = tuple(Kind(one.group, one.kind) for one in gke.POLICIES)
"""Policies of GKE's Gateway of which a target takes one of each kind."""

NETWORK_POLICY = Kind("networking.k8s.io", "NetworkPolicy")
CILIUM_POLICIES = (Kind("cilium.io", "CiliumNetworkPolicy"), Kind("cilium.io", "CiliumClusterwideNetworkPolicy"))
ADMIN_POLICIES = tuple(
    Kind("policy.networking.k8s.io", name)
    for name in ("AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy")
)
LISTENER_SETS = (Kind("gateway.networking.k8s.io", "ListenerSet"), Kind("gateway.networking.x-k8s.io", "XListenerSet"))
FQDN_POLICY = Kind("networking.gke.io", "FQDNNetworkPolicy")
COMPUTE_CLASS = Kind(compute_class.GROUP, compute_class.KIND)
AI_ROUTE = Kind(front_door.AI_GROUP, "AIGatewayRoute")
SECURITY_POLICY = Kind(front_door.GATEWAY_GROUP, "SecurityPolicy")
EXTENSION_POLICY = Kind(front_door.GATEWAY_GROUP, "EnvoyExtensionPolicy")
CLIENT_POLICY = Kind(front_door.GATEWAY_GROUP, "ClientTrafficPolicy")
TRAFFIC_POLICY = Kind(front_door.GATEWAY_GROUP, "BackendTrafficPolicy")
ENVOY_POLICIES = (SECURITY_POLICY, EXTENSION_POLICY, CLIENT_POLICY, TRAFFIC_POLICY)
"""Policies of Envoy Gateway of which a target takes one of each kind."""
PATCH_POLICY = Kind(front_door.GATEWAY_GROUP, "EnvoyPatchPolicy")
ENVOY_PROXY = Kind(front_door.GATEWAY_GROUP, "EnvoyProxy")
BACKEND = Kind(front_door.GATEWAY_GROUP, "Backend")
AI_BACKEND = Kind(front_door.AI_GROUP, "AIServiceBackend")
NAMESPACE = Kind("", "Namespace")
CONFIG_MAP = Kind("", "ConfigMap")
SERVICE = Kind("", "Service")
CRD = Kind("apiextensions.k8s.io", "CustomResourceDefinition")
RELEASE = Kind("helm.sh", "Release")
CHART = Kind("helm.sh", "Chart")
CHARTS = (RELEASE, CHART)
DEPLOYMENT = Kind("apps", "Deployment")
STATEFUL_SET = Kind("apps", "StatefulSet")
JOB = Kind("batch", "Job")
POD = Kind("", "Pod")
WORKER_SET = Kind("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
CLUSTER = Kind("gcp", "container/cluster:Cluster")
NODE_POOL = Kind("gcp", "container/nodePool:NodePool")
ALERT_POLICY = Kind("gcp", "monitoring/alertPolicy:AlertPolicy")
ARMOR = (
    Kind("gcp", "compute/regionSecurityPolicy:RegionSecurityPolicy"),
    Kind("gcp", "compute/securityPolicy:SecurityPolicy"),
)
ARMOR_RULE = (
    Kind("gcp", "compute/regionSecurityPolicyRule:RegionSecurityPolicyRule"),
    Kind("gcp", "compute/securityPolicyRule:SecurityPolicyRule"),
)
SUBNET = Kind("gcp", "compute/subnetwork:Subnetwork")
NETWORK = Kind("gcp", "compute/network:Network")
