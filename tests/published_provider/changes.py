"""Resources of every type, and changes of them whose plans the real and the hand-written provider must agree on."""

from __future__ import annotations

from typing import Any

Props = dict[str, Any]
CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"
NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
FIREWALL = "gcp:compute/firewall:Firewall"
ROUTER = "gcp:compute/router:Router"
NAT = "gcp:compute/routerNat:RouterNat"
ADDRESS = "gcp:compute/address:Address"
SECURITY_POLICY = "gcp:compute/regionSecurityPolicy:RegionSecurityPolicy"
SSL_POLICY = "gcp:compute/regionSslPolicy:RegionSslPolicy"
CERTIFICATE = "gcp:compute/regionSslCertificate:RegionSslCertificate"
RECORD = "gcp:dns/recordSet:RecordSet"
CHANNEL = "gcp:monitoring/notificationChannel:NotificationChannel"
ALERT_POLICY = "gcp:monitoring/alertPolicy:AlertPolicy"
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"
UPTIME_CHECK = "gcp:monitoring/uptimeCheckConfig:UptimeCheckConfig"
SERVICE = "gcp:projects/service:Service"
MEMBER = "gcp:projects/iAMMember:IAMMember"
ACCOUNT = "gcp:serviceaccount/account:Account"
ACCOUNT_MEMBER = "gcp:serviceaccount/iAMMember:IAMMember"
BUCKET = "gcp:storage/bucket:Bucket"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"

PROJECT = "my-project"
REGION = "us-east5"
ZONE = "us-east5-b"
VPC = f"projects/{PROJECT}/global/networks/vpc"
LINK = "https://www.googleapis.com/compute/v1/"
SCOPES = ["https://www.googleapis.com/auth/cloud-platform", "https://www.googleapis.com/auth/logging.write"]
KEY = f"projects/{PROJECT}/locations/{REGION}/keyRings/r/cryptoKeys/k"
NODES = f"nodes@{PROJECT}.iam.gserviceaccount.com"

THROTTLE: Props = {
    "priority": 1000,
    "action": "throttle",
    "match": {"versionedExpr": "SRC_IPS_V1", "config": {"srcIpRanges": ["192.0.2.0/24"]}},
    "rateLimitOptions": {
        "conformAction": "allow",
        "exceedAction": "deny(429)",
        "enforceOnKey": "IP",
        "rateLimitThreshold": {"count": 600, "intervalSec": 60},
    },
}
DENY_OTHERS: Props = {
    "priority": 2147483647,
    "action": "deny(403)",
    "match": {"versionedExpr": "SRC_IPS_V1", "config": {"srcIpRanges": ["*"]}},
}

MADE: dict[str, tuple[str, Props]] = {
    "service": (SERVICE, {"service": "container.googleapis.com", "disableOnDestroy": False}),
    "account": (ACCOUNT, {"accountId": "nodes-account", "displayName": "Nodes"}),
    "member": (MEMBER, {"project": PROJECT, "role": "roles/logging.logWriter", "member": "user:a@example.com"}),
    "vpc": (NETWORK, {"name": "vpc", "autoCreateSubnetworks": False}),
    "nodes": (
        SUBNETWORK,
        {
            "name": "nodes",
            "network": VPC,
            "ipCidrRange": "10.0.0.0/20",
            "region": REGION,
            "privateIpGoogleAccess": True,
            "secondaryIpRanges": [
                {"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"},
                {"rangeName": "services", "ipCidrRange": "10.8.0.0/20"},
            ],
        },
    ),
    "firewall": (
        FIREWALL,
        {
            "name": "health-checks",
            "network": VPC,
            "direction": "INGRESS",
            "sourceRanges": ["35.191.0.0/16", "130.211.0.0/22"],
            "allows": [{"protocol": "tcp", "ports": ["8000", "9002"]}],
        },
    ),
    "router": (ROUTER, {"name": "router", "network": VPC, "region": REGION}),
    "nat": (
        NAT,
        {
            "name": "nat",
            "router": "router",
            "region": REGION,
            "natIpAllocateOption": "AUTO_ONLY",
            "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
            "minPortsPerVm": 256,
            "enableDynamicPortAllocation": True,
            "maxPortsPerVm": 65536,
            "logConfig": {"enable": True, "filter": "ERRORS_ONLY"},
        },
    ),
    "address": (
        ADDRESS,
        {"name": "ip", "region": REGION, "networkTier": "STANDARD", "labels": {"team": "llm"}},
    ),
    "sslPolicy": (
        SSL_POLICY,
        {
            "name": "tls",
            "region": REGION,
            "minTlsVersion": "TLS_1_2",
            "profile": "CUSTOM",
            "customFeatures": ["A", "B"],
        },
    ),
    "securityPolicy": (
        SECURITY_POLICY,
        {
            "name": "armor",
            "region": REGION,
            "type": "CLOUD_ARMOR",
            "description": "Who may call",
            "rules": [THROTTLE, DENY_OTHERS],
        },
    ),
    "certificate": (
        CERTIFICATE,
        {"name": "tls-1", "region": REGION, "certificate": "PEM", "privateKey": "KEY", "description": "For clients"},
    ),
    "accountMember": (
        ACCOUNT_MEMBER,
        {
            "serviceAccountId": f"projects/{PROJECT}/serviceAccounts/nodes-account@{PROJECT}.iam.gserviceaccount.com",
            "role": "roles/iam.workloadIdentityUser",
            "member": "user:a@example.com",
        },
    ),
    "policy": (
        POLICY,
        {
            "name": "wp",
            "region": REGION,
            "workloadPolicy": {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x2x2"},
        },
    ),
    "cluster": (
        CLUSTER,
        {
            "name": "gke",
            "location": REGION,
            "network": VPC,
            "subnetwork": "nodes",
            "initialNodeCount": 1,
            "removeDefaultNodePool": True,
            "nodeLocations": ["us-east5-a", ZONE],
            "deletionProtection": False,
            "resourceLabels": {"team": "llm"},
            "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"},
            "releaseChannel": {"channel": "REGULAR"},
            "gatewayApiConfig": {"channel": "CHANNEL_STANDARD"},
            "workloadIdentityConfig": {"workloadPool": f"{PROJECT}.svc.id.goog"},
            "datapathProvider": "ADVANCED_DATAPATH",
            "enableShieldedNodes": True,
            "loggingConfig": {"enableComponents": ["SYSTEM_COMPONENTS", "WORKLOADS"]},
            "masterAuthorizedNetworksConfig": {
                "cidrBlocks": [
                    {"cidrBlock": "10.0.0.0/8", "displayName": "inside"},
                    {"cidrBlock": "192.0.2.0/24", "displayName": "office"},
                ]
            },
            "maintenancePolicy": {
                "recurringWindow": {
                    "startTime": "2026-01-03T04:00:00Z",
                    "endTime": "2026-01-03T10:00:00Z",
                    "recurrence": "FREQ=WEEKLY;BYDAY=SA,SU",
                }
            },
        },
    ),
    "pool": (
        POOL,
        {
            "name": "tpu",
            "cluster": "gke",
            "location": REGION,
            "nodeLocations": ["us-east5-a", ZONE],
            "nodeCount": 1,
            "maxPodsPerNode": 64,
            "management": {"autoRepair": True, "autoUpgrade": True},
            "upgradeSettings": {"maxSurge": 0, "maxUnavailable": 1},
            "nodeConfig": {
                "machineType": "e2-standard-8",
                "diskType": "pd-balanced",
                "diskSizeGb": 100,
                "imageType": "COS_CONTAINERD",
                "spot": False,
                "oauthScopes": SCOPES,
                "labels": {"a": "b", "keep": "it"},
                "tags": ["nodes"],
                "metadata": {"disable-legacy-endpoints": "true"},
                "shieldedInstanceConfig": {"enableSecureBoot": True, "enableIntegrityMonitoring": True},
                "taints": [{"key": "models", "value": "only", "effect": "NO_SCHEDULE"}],
            },
        },
    ),
    "scaled": (
        POOL,
        {
            "name": "scaled",
            "cluster": "gke",
            "location": REGION,
            "nodeLocations": [ZONE],
            "initialNodeCount": 0,
            "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"},
            "nodeConfig": {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced"},
        },
    ),
    "slice": (
        POOL,
        {
            "name": "slice",
            "cluster": "gke",
            "location": REGION,
            "nodeLocations": [ZONE],
            "initialNodeCount": 0,
            "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4},
            "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
            "nodeConfig": {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced"},
        },
    ),
    "record": (
        RECORD,
        {"name": "llm.example.com.", "managedZone": "zone", "type": "A", "ttl": 300, "rrdatas": ["203.0.113.7"]},
    ),
    "email": (
        CHANNEL,
        {"type": "email", "displayName": "On call", "labels": {"email_address": "oncall@example.com"}},
    ),
    "slack": (
        CHANNEL,
        {"type": "slack", "labels": {"channel_name": "#llm"}, "sensitiveLabels": {"authToken": "xoxb-1"}},
    ),
    "alert": (
        ALERT_POLICY,
        {
            "displayName": "Model has no ready replica",
            "combiner": "OR",
            "severity": "CRITICAL",
            "conditions": [
                {
                    "displayName": "no ready replica",
                    "conditionPrometheusQueryLanguage": {
                        "query": "max by (name) (inference_pool_ready_pods) == 0",
                        "duration": "120s",
                        "evaluationInterval": "60s",
                        "alertRule": "ModelHasNoReadyReplica",
                        "ruleGroup": "models",
                        "labels": {"severity": "critical"},
                        "disableMetricValidation": True,
                    },
                }
            ],
            "alertStrategy": {"autoClose": "3600s"},
            "documentation": {
                "content": "No replica is ready.",
                "links": [{"displayName": "Runbook", "url": "https://example.com/alerts"}],
            },
            "userLabels": {"stack": "eu4a"},
        },
    ),
    "dashboard": (
        DASHBOARD,
        {"dashboardJson": '{"displayName":"Models","mosaicLayout":{"columns":12,"tiles":[]}}'},
    ),
    "uptime": (
        UPTIME_CHECK,
        {
            "displayName": "Front door",
            "timeout": "10s",
            "period": "60s",
            # Without project_id, which Google adds, the provider replaces the check with every change.
            "monitoredResource": {"type": "uptime_url", "labels": {"project_id": PROJECT, "host": "llm.example.com"}},
            "httpCheck": {"path": "/models/qwen/health", "useSsl": True, "validateSsl": True},
        },
    ),
    "bucket": (
        BUCKET,
        {
            "name": "weights-of-mine",
            "location": "US-EAST5",
            "uniformBucketLevelAccess": True,
            "publicAccessPrevention": "enforced",
            "labels": {"team": "llm"},
            "forceDestroy": True,
        },
    ),
    "bucketMember": (
        BUCKET_MEMBER,
        {"bucket": "weights-of-mine", "role": "roles/storage.objectViewer", "member": "user:a@example.com"},
    ),
}
"""Name, type and inputs of what is made, in this order."""

CHANGES: tuple[tuple[str, Props], ...] = (
    ("service", {}),
    ("service", {"service": "compute.googleapis.com"}),
    ("service", {"disableOnDestroy": True}),
    ("account", {"displayName": "Other"}),
    ("account", {"displayName": None}),
    ("account", {"accountId": "other-account"}),
    ("member", {"role": "roles/monitoring.viewer"}),
    ("member", {"member": "user:A@example.com"}),
    ("vpc", {"autoCreateSubnetworks": True}),
    ("vpc", {"routingMode": "GLOBAL"}),
    ("vpc", {"mtu": 8896}),
    ("vpc", {"name": "other"}),
    ("vpc", {"description": "For models"}),
    ("nodes", {"ipCidrRange": "10.0.0.0/19"}),
    ("nodes", {"ipCidrRange": "10.0.0.0/21"}),
    ("nodes", {"privateIpGoogleAccess": False}),
    ("nodes", {"privateIpGoogleAccess": None}),
    ("nodes", {"network": LINK + VPC}),
    ("nodes", {"network": "vpc"}),
    ("nodes", {"region": f"{LINK}projects/{PROJECT}/regions/{REGION}"}),
    ("nodes", {"secondaryIpRanges": None}),
    ("nodes", {"secondaryIpRanges[0].ipCidrRange": "10.16.0.0/14"}),
    ("firewall", {"sourceRanges": ["130.211.0.0/22", "35.191.0.0/16"]}),
    ("firewall", {"sourceRanges": ["35.191.0.0/16"]}),
    ("firewall", {"allows": [{"protocol": "tcp", "ports": ["8000"]}]}),
    ("firewall", {"priority": 1000}),
    ("firewall", {"priority": 900}),
    ("firewall", {"direction": None}),
    ("router", {"description": "Router"}),
    ("router", {"network": "vpc"}),
    ("router", {"name": "other"}),
    ("nat", {"minPortsPerVm": 512}),
    ("nat", {"logConfig.filter": "ALL"}),
    ("nat", {"logConfig": None}),
    ("nat", {"router": f"projects/{PROJECT}/regions/{REGION}/routers/router"}),
    ("nat", {"type": "PRIVATE"}),
    ("address", {"labels.team": "other"}),
    ("address", {"labels": None}),
    ("address", {"networkTier": "PREMIUM"}),
    ("address", {"networkTier": None}),
    ("address", {"addressType": "EXTERNAL"}),
    ("address", {"description": "Gateway"}),
    ("sslPolicy", {"minTlsVersion": "TLS_1_3"}),
    ("sslPolicy", {"customFeatures": ["B", "A"]}),
    ("sslPolicy", {"customFeatures": ["A", "C"]}),
    ("securityPolicy", {}),
    ("securityPolicy", {"rules": [DENY_OTHERS, THROTTLE]}),
    ("securityPolicy", {"rules": [DENY_OTHERS]}),
    ("securityPolicy", {"rules": None}),
    ("securityPolicy", {"rules[0].rateLimitOptions.rateLimitThreshold.count": 60}),
    ("securityPolicy", {"rules[0].match.config.srcIpRanges": ["192.0.2.0/24", "198.51.100.0/24"]}),
    ("securityPolicy", {"rules[1].action": "allow"}),
    ("securityPolicy", {"rules[1].preview": False}),
    ("securityPolicy", {"description": "Others"}),
    ("securityPolicy", {"type": "CLOUD_ARMOR_NETWORK"}),
    ("securityPolicy", {"type": None}),
    ("securityPolicy", {"region": "us-east1"}),
    ("securityPolicy", {"name": "other"}),
    ("certificate", {}),
    ("certificate", {"name": "tls-2"}),
    ("certificate", {"description": None}),
    ("certificate", {"certificate": "OTHER"}),
    ("accountMember", {"role": "roles/iam.serviceAccountUser"}),
    ("accountMember", {"member": "user:A@example.com"}),
    ("policy", {"workloadPolicy.acceleratorTopology": "2x2x4"}),
    ("policy", {"name": "other"}),
    ("policy", {"description": "Slices"}),
    ("cluster", {}),
    ("cluster", {"nodeLocations": [ZONE, "us-east5-a"]}),
    ("cluster", {"nodeLocations": [ZONE]}),
    ("cluster", {"network": "vpc"}),
    ("cluster", {"network": LINK + VPC}),
    ("cluster", {"subnetwork": f"projects/{PROJECT}/regions/{REGION}/subnetworks/nodes"}),
    ("cluster", {"location": ZONE}),
    ("cluster", {"name": "other"}),
    ("cluster", {"resourceLabels.team": "other"}),
    ("cluster", {"resourceLabels": None}),
    ("cluster", {"releaseChannel.channel": "STABLE"}),
    ("cluster", {"releaseChannel": None}),
    ("cluster", {"gatewayApiConfig": None}),
    ("cluster", {"datapathProvider": "LEGACY_DATAPATH"}),
    ("cluster", {"datapathProvider": None}),
    ("cluster", {"enableShieldedNodes": None}),
    ("cluster", {"enableShieldedNodes": False}),
    ("cluster", {"deletionProtection": True}),
    ("cluster", {"deletionProtection": None}),
    ("cluster", {"loggingConfig.enableComponents": ["WORKLOADS", "SYSTEM_COMPONENTS"]}),
    ("cluster", {"masterAuthorizedNetworksConfig.cidrBlocks": [
        {"cidrBlock": "192.0.2.0/24", "displayName": "office"}, {"cidrBlock": "10.0.0.0/8", "displayName": "inside"},
    ]}),
    ("cluster", {"masterAuthorizedNetworksConfig": None}),
    ("cluster", {"maintenancePolicy": None}),
    ("cluster", {"maintenancePolicy.recurringWindow.recurrence": "FREQ=DAILY"}),
    ("cluster", {"ipAllocationPolicy": None}),
    ("cluster", {"ipAllocationPolicy.clusterSecondaryRangeName": "other"}),
    ("cluster", {"ipAllocationPolicy.stackType": "IPV4"}),
    ("cluster", {"initialNodeCount": 2}),
    ("cluster", {"description": "Models"}),
    ("cluster", {"enableTpu": True}),
    ("cluster", {"binaryAuthorization": {"evaluationMode": "PROJECT_SINGLETON_POLICY_ENFORCE"}}),
    ("cluster", {"databaseEncryption": {"state": "ENCRYPTED", "keyName": KEY}}),
    ("cluster", {"verticalPodAutoscaling": {"enabled": True}}),
    ("cluster", {"enableL4IlbSubsetting": True}),
    ("pool", {}),
    ("pool", {"nodeLocations": [ZONE, "us-east5-a"]}),
    ("pool", {"nodeConfig.oauthScopes": SCOPES[::-1]}),
    ("pool", {"nodeConfig.oauthScopes": SCOPES[:1]}),
    ("pool", {"nodeConfig.oauthScopes": None}),
    ("pool", {"nodeConfig.spot": None}),
    ("pool", {"nodeConfig.spot": True}),
    ("pool", {"nodeConfig.preemptible": False}),
    ("pool", {"nodeConfig.machineType": "e2-standard-16"}),
    ("pool", {"nodeConfig.diskSizeGb": 200}),
    ("pool", {"nodeConfig.diskType": "pd-ssd"}),
    ("pool", {"nodeConfig.diskType": None}),
    ("pool", {"nodeConfig.imageType": "UBUNTU_CONTAINERD"}),
    ("pool", {"nodeConfig.labels.a": "c"}),
    ("pool", {"nodeConfig.labels.a": None}),
    ("pool", {"nodeConfig.labels": None}),
    ("pool", {"nodeConfig.tags": ["nodes", "more"]}),
    ("pool", {"nodeConfig.metadata": None}),
    ("pool", {"nodeConfig.metadata.more": "x"}),
    ("pool", {"nodeConfig.taints": None}),
    ("pool", {"nodeConfig.taints[0].effect": "NO_EXECUTE"}),
    ("pool", {"nodeConfig.shieldedInstanceConfig.enableSecureBoot": False}),
    ("pool", {"nodeConfig.shieldedInstanceConfig.enableIntegrityMonitoring": None}),
    ("pool", {"nodeConfig.sandboxConfig": {"type": "GVISOR"}}),
    ("pool", {"nodeConfig.serviceAccount": NODES}),
    ("pool", {"nodeConfig.reservationAffinity": {"consumeReservationType": "ANY_RESERVATION"}}),
    ("pool", {"nodeConfig.linuxNodeConfig": {"transparentHugepageEnabled": "TRANSPARENT_HUGEPAGE_ENABLED_ALWAYS"}}),
    ("pool", {"nodeConfig": None}),
    ("pool", {"nodeCount": 2}),
    ("pool", {"maxPodsPerNode": None}),
    ("pool", {"maxPodsPerNode": 32}),
    ("pool", {"management": None}),
    ("pool", {"management.autoRepair": False}),
    ("pool", {"upgradeSettings.maxUnavailable": 2}),
    ("pool", {"name": "other"}),
    ("pool", {"cluster": "other"}),
    ("pool", {"placementPolicy": {"type": "COMPACT"}}),
    ("scaled", {"autoscaling.maxNodeCount": 8}),
    ("scaled", {"autoscaling.locationPolicy": "BALANCED"}),
    ("scaled", {"initialNodeCount": None}),
    ("scaled", {"initialNodeCount": 1}),
    ("scaled", {"nodeConfig.machineType": "ct6e-standard-8t"}),
    ("slice", {"placementPolicy.tpuTopology": "4x8"}),
    ("slice", {"placementPolicy": None}),
    ("record", {"ttl": 60}),
    ("record", {"rrdatas": ["203.0.113.8"]}),
    ("record", {"type": "AAAA"}),
    ("record", {"managedZone": f"projects/{PROJECT}/managedZones/zone"}),
    ("record", {"managedZone": "other"}),
    ("record", {"name": "other.example.com."}),
    ("email", {}),
    ("email", {"labels.email_address": "other@example.com"}),
    ("email", {"displayName": None}),
    ("email", {"enabled": False}),
    ("email", {"type": "sms", "labels": {"number": "+15550100"}}),
    ("slack", {}),
    ("slack", {"sensitiveLabels.authToken": "xoxb-2"}),
    ("slack", {"labels.channel_name": "#other"}),
    ("alert", {}),
    ("alert", {"displayName": "Other"}),
    ("alert", {"conditions[0].conditionPrometheusQueryLanguage.query": "up == 0"}),
    ("alert", {"conditions[0].conditionPrometheusQueryLanguage.duration": "300s"}),
    ("alert", {"conditions[0].conditionPrometheusQueryLanguage.labels": None}),
    ("alert", {"severity": "WARNING"}),
    ("alert", {"severity": "INFO"}),
    ("alert", {"enabled": False}),
    ("alert", {"alertStrategy": None}),
    ("alert", {"documentation.content": "Other."}),
    ("alert", {"documentation": None}),
    ("alert", {"userLabels": None}),
    ("alert", {"project": "other"}),
    ("dashboard", {}),
    ("dashboard", {"dashboardJson": '{"displayName":"Other","mosaicLayout":{"columns":12,"tiles":[]}}'}),
    ("dashboard", {"dashboardJson": "{"}),
    ("uptime", {}),
    ("uptime", {"period": "300s"}),
    ("uptime", {"timeout": "20s"}),
    ("uptime", {"httpCheck.path": "/models/other/health"}),
    ("uptime", {"httpCheck.useSsl": False}),
    ("uptime", {"monitoredResource.labels.host": "other.example.com"}),
    ("uptime", {"httpCheck.requestMethod": "POST"}),
    ("bucket", {"labels.team": "other"}),
    ("bucket", {"location": "us-east5"}),
    ("bucket", {"location": "US-EAST1"}),
    ("bucket", {"storageClass": "NEARLINE"}),
    ("bucket", {"forceDestroy": None}),
    ("bucket", {"publicAccessPrevention": None}),
    ("bucket", {"versioning": {"enabled": True}}),
    ("bucketMember", {"role": "roles/storage.objectAdmin"}),
)  # fmt: skip
"""What of which resource changes, by path; ``None`` takes a property out."""


def changed(inputs: Props, over: Props) -> Props:
    """The inputs with the change."""
    result: Props = _copied(inputs)
    for path, value in over.items():
        *above, last = path.replace("[", ".").replace("]", "").split(".")
        at: Any = result
        for part in above:
            at = at[int(part)] if isinstance(at, list) else at.setdefault(part, {})
        if value is None:
            at.pop(last, None)
        else:
            at[last] = value
    return result


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def label(name: str, over: Props) -> str:
    """How a change is called in a test's name: ``pool nodeConfig.spot=True``."""
    shown = ",".join(f"{path}={str(value)[:40]}" for path, value in over.items())
    return f"{name} {shown or 'unchanged'}"
