"""Clusters: their bodies as the rules know them, what GKE adds to one, and what an update changes in it."""

from __future__ import annotations

from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.rules import control_plane
from localcloud.google_api.rules.container import CHANNEL_DEFAULT, offered
from localcloud.google_api.rules.references import CLUSTER, network_id, subnetwork_id
from localcloud.google_api.rules.resource_type import TargetResource, digits, short
from localcloud.google_api.services.links import GKE
from localcloud.product import zones
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, merge, objects, table, text, texts

_SAME = (
    "name", "network", "subnetwork", "ipAllocationPolicy", "workloadIdentityConfig", "databaseEncryption",
    "initialNodeCount", "addonsConfig", "resourceLabels", "binaryAuthorization", "podAutoscaling", "networkPolicy",
)  # fmt: skip
"""Properties with the same name in the rules and in the API."""
MONITORED = (
    "SYSTEM_COMPONENTS", "DAEMONSET", "DEPLOYMENT", "STATEFULSET", "JOBSET", "STORAGE", "HPA", "POD", "CADVISOR",
    "KUBELET", "DCGM",
)  # fmt: skip
"""What GKE monitors in a cluster that names nothing."""


def inputs_of(body: JsonObject) -> JsonObject:
    """The body with the names of the rules, which are those of Pulumi's SDK."""
    inputs: JsonObject = {key: body[key] for key in _SAME if key in body}
    inputs["minMasterVersion"] = text(body, "initialClusterVersion")
    inputs["nodeLocations"] = body.get("locations", [])
    inputs["enableAutopilot"] = dig(body, "autopilot", "enabled") is True
    inputs["gatewayApiConfig"] = dig(body, "networkConfig", "gatewayApiConfig") or {}
    inputs["datapathProvider"] = text(body, "networkConfig", "datapathProvider")
    pauses: list[JsonValue] = [
        {"exclusionName": name} for name in table(body, "maintenancePolicy", "window", "maintenanceExclusions")
    ]
    inputs["maintenancePolicy"] = {"maintenanceExclusions": pauses}
    monitoring = dig(body, "monitoringConfig")
    if monitoring is not None:
        inputs["monitoringConfig"] = {
            "enableComponents": dig(monitoring, "componentConfig", "enableComponents") or [],
            "managedPrometheus": {"enabled": dig(monitoring, "managedPrometheusConfig", "enabled") is True},
        }
    pools = objects(body, "nodePools")
    if pools:
        inputs["nodePools"] = list[JsonValue](pools)
    inputs["nodeConfig"] = dig(pools[0], "config") if pools else body.get("nodeConfig", {})
    return inputs


def target_of(key: str, body: JsonObject) -> TargetResource:
    """The cluster as the rules see it. ``key`` is its name in the API."""
    _, project, _, location, *_ = key.split("/")
    scope = {"project": project, "region": zones.region_of(location), "zone": "", "location": location}
    return TargetResource(CLUSTER, key, inputs_of(body), scope)


def shown(target: TargetResource, body: JsonObject, etag: str) -> JsonObject:
    """The cluster as GKE shows it: what was asked for, and GKE's own decisions.

    Computed values as in the recordings of k8s-config-connector 1.151 (``containercluster/*/_http.log``).
    """
    computed = control_plane.outputs(target)
    version = offered(text(body, "initialClusterVersion")) or CHANNEL_DEFAULT
    location, region = target.scope["location"], target.scope["region"]
    network, subnetwork = (short(text(body, key) or "default") for key in ("network", "subnetwork"))
    dns: JsonObject = {"endpoint": computed["dnsEndpoint"]}
    by_ip = dig(body, "controlPlaneEndpointsConfig", "ipEndpointsConfig", "enabled") is not False
    added: JsonObject = {
        "controlPlaneEndpointsConfig": {"dnsEndpointConfig": dns, "ipEndpointsConfig": _ip(body) if by_ip else {}},
        "networkConfig": {
            "network": network_id(text(body, "network") or network, target.project),
            "subnetwork": subnetwork_id(text(body, "subnetwork") or subnetwork, target.project, region),
            "serviceExternalIpsConfig": {},
        },
        "locations": [location] if location.count("-") > 1 else [f"{location}-{letter}" for letter in "abc"],
        "addonsConfig": {
            "gcePersistentDiskCsiDriverConfig": {"enabled": True},
            "kubernetesDashboard": {"disabled": True},
            "networkPolicyConfig": {"disabled": True},
        },
        "anonymousAuthenticationConfig": {"mode": "ENABLED"},
        "autopilot": {},
        "autoscaling": {"autoscalingProfile": "BALANCED"},
        "binaryAuthorization": {},
        "databaseEncryption": {"state": "DECRYPTED", "currentState": "CURRENT_STATE_DECRYPTED"},
        "defaultMaxPodsConstraint": {"maxPodsPerNode": "110"},
        "enterpriseConfig": {"clusterTier": "STANDARD"},
        "ipAllocationPolicy": {
            "stackType": "IPV4",
            "useIpAliases": True,
            "clusterIpv4Cidr": computed["clusterIpv4Cidr"],
            "servicesIpv4Cidr": computed["servicesIpv4Cidr"],
            "clusterIpv4CidrBlock": computed["clusterIpv4Cidr"],
            "servicesIpv4CidrBlock": computed["servicesIpv4Cidr"],
            "podCidrOverprovisionConfig": {},
        },
        "legacyAbac": {},
        "loggingConfig": {"componentConfig": {"enableComponents": ["SYSTEM_COMPONENTS", "WORKLOADS"]}},
        "loggingService": "logging.googleapis.com/kubernetes",
        "monitoringConfig": {
            "advancedDatapathObservabilityConfig": {},
            "componentConfig": {"enableComponents": list[JsonValue](MONITORED)},
            "managedPrometheusConfig": {"enabled": True},
        },
        "monitoringService": "monitoring.googleapis.com/kubernetes",
        "maintenancePolicy": {"resourceVersion": "abcd1234"},
        "masterAuth": {"clientCertificateConfig": {}},
        "masterAuthorizedNetworksConfig": {},
        "nodePoolAutoConfig": {"nodeKubeletConfig": {"insecureKubeletReadonlyPortEnabled": False}},
        "nodePoolDefaults": {
            "nodeConfigDefaults": {
                "loggingConfig": {"variantConfig": {"variant": "DEFAULT"}},
                "nodeKubeletConfig": {"insecureKubeletReadonlyPortEnabled": False},
            }
        },
        "notificationConfig": {"pubsub": {}},
        "podAutoscaling": {"hpaProfile": "PERFORMANCE"},
        "privateClusterConfig": {},
        "rbacBindingConfig": {
            "enableInsecureBindingSystemAuthenticated": True,
            "enableInsecureBindingSystemUnauthenticated": True,
        },
        "releaseChannel": {"channel": "REGULAR"},
        "securityPostureConfig": {"mode": "BASIC", "vulnerabilityMode": "VULNERABILITY_MODE_UNSPECIFIED"},
        "shieldedNodes": {"enabled": True},
    }
    own: JsonObject = {
        "network": network,
        "subnetwork": subnetwork,
        "clusterIpv4Cidr": computed["clusterIpv4Cidr"],
        "servicesIpv4Cidr": computed["servicesIpv4Cidr"],
        "initialClusterVersion": version,
        "currentMasterVersion": version,
        "currentNodeVersion": version,
        "endpoint": computed["endpoint"] if by_ip else dns["endpoint"],
        "etag": etag,
        "id": digits(target.id, 21),
        "labelFingerprint": digits(target.id, 8),
        "location": location,
        "selfLink": f"{GKE}/{target.id}",
        "status": "PROVISIONING",
        "createTime": "2026-01-01T00:00:00+00:00",
    }
    if location.count("-") > 1:
        own["zone"] = location
    asked = {key: value for key, value in body.items() if key != "nodePools" and value is not None}
    made = merge(added, asked) | own
    if not texts(made, "locations"):  # an empty list is what the client sends for none
        made["locations"] = added["locations"]
    # VPC-native, whatever was asked for
    return merge(
        made,
        {
            "masterAuth": {"clusterCaCertificate": computed["caCertificate"]},
            "ipAllocationPolicy": {"useIpAliases": True},
        },
    )


def _ip(body: JsonObject) -> JsonObject:
    """The endpoint's settings: public, unless the request says otherwise. GKE omits values that are false."""
    given = dig(body, "controlPlaneEndpointsConfig", "ipEndpointsConfig", "enablePublicEndpoint")
    private = dig(body, "privateClusterConfig", "enablePrivateEndpoint") is True or given is False
    return {"enabled": True} if private else {"enabled": True, "enablePublicEndpoint": True}


_DESIRED: dict[str, tuple[str, ...]] = {
    "desiredLocations": ("locations",),
    "desiredMasterVersion": ("currentMasterVersion",),
    "desiredImageType": ("nodeConfig", "imageType"),
    "desiredGatewayApiConfig": ("networkConfig", "gatewayApiConfig"),
    "desiredDnsConfig": ("networkConfig", "dnsConfig"),
    "desiredServiceExternalIpsConfig": ("networkConfig", "serviceExternalIpsConfig"),
    "desiredDatapathProvider": ("networkConfig", "datapathProvider"),
    "desiredDefaultEnablePrivateNodes": ("networkConfig", "defaultEnablePrivateNodes"),
    "desiredEnableFqdnNetworkPolicy": ("networkConfig", "enableFqdnNetworkPolicy"),
    "desiredEnableCiliumClusterwideNetworkPolicy": ("networkConfig", "enableCiliumClusterwideNetworkPolicy"),
    "desiredEnableMultiNetworking": ("networkConfig", "enableMultiNetworking"),
    "desiredClusterAutoscaling": ("autoscaling",),
    "desiredGcfsConfig": ("nodePoolDefaults", "nodeConfigDefaults", "gcfsConfig"),
    "desiredNodePoolLoggingConfig": ("nodePoolDefaults", "nodeConfigDefaults", "loggingConfig"),
    "desiredNodeKubeletConfig": ("nodePoolDefaults", "nodeConfigDefaults", "nodeKubeletConfig"),
    "desiredContainerdConfig": ("nodePoolDefaults", "nodeConfigDefaults", "containerdConfig"),
    "desiredNodePoolAutoConfigKubeletConfig": ("nodePoolAutoConfig", "nodeKubeletConfig"),
}
_PLAIN = frozenset(
    f"desired{name}"
    for name in (
        "AddonsConfig", "AnonymousAuthenticationConfig", "BinaryAuthorization", "ControlPlaneEndpointsConfig",
        "CostManagementConfig", "DatabaseEncryption", "EnterpriseConfig", "IdentityServiceConfig", "LoggingConfig",
        "LoggingService", "MasterAuthorizedNetworksConfig", "MeshCertificates", "MonitoringConfig",
        "MonitoringService", "NotificationConfig", "PodAutoscaling", "PrivateClusterConfig", "RbacBindingConfig",
        "ReleaseChannel", "SecretManagerConfig", "SecurityPostureConfig", "ShieldedNodes", "VerticalPodAutoscaling",
        "WorkloadIdentityConfig",
    )
)  # fmt: skip
"""Fields of an update that are called as the cluster's own, with ``desired`` in front."""


def updated(before: JsonObject, update: JsonObject) -> JsonObject:
    """The cluster after an update. Raises :class:`ApiError` where nothing is asked for or something is not known."""
    changes = {key: value for key, value in update.items() if key != "etag" and value is not None}
    if not changes:
        raise ApiError(400, "Must specify a field to update.")
    given = text(update, "etag")
    if given and given != text(before, "etag"):
        raise ApiError(409, "The cluster was changed since it was read: the etag does not match.", "aborted")
    after = before
    for key, value in changes.items():
        path = _DESIRED.get(key) or ((key[7].lower() + key[8:],) if key in _PLAIN else ())
        if not path:
            raise ApiError(501, f"the emulator does not imitate the update {key} of a cluster")
        nested: JsonValue = value
        for part in reversed(path):
            nested = {part: nested}
        after = merge(after, nested if isinstance(nested, dict) else {})
    if "desiredDatabaseEncryption" in changes and text(after, "databaseEncryption", "state") == "DECRYPTED":
        after["databaseEncryption"] = {"state": "DECRYPTED", "currentState": "CURRENT_STATE_DECRYPTED"}
    return after
