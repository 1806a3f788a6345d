"""Networks, addresses and what guards the load balancer, and what changes of them."""

from __future__ import annotations

from localcloud.tests.published_provider.changes.names import LINK, PROJECT, REGION, VPC, Props

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
FIREWALL = "gcp:compute/firewall:Firewall"
ROUTER = "gcp:compute/router:Router"
NAT = "gcp:compute/routerNat:RouterNat"
ADDRESS = "gcp:compute/address:Address"
SECURITY_POLICY = "gcp:compute/regionSecurityPolicy:RegionSecurityPolicy"
SSL_POLICY = "gcp:compute/regionSslPolicy:RegionSslPolicy"
CERTIFICATE = "gcp:compute/regionSslCertificate:RegionSslCertificate"
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
}

CHANGES: tuple[tuple[str, Props], ...] = (
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
)  # fmt: skip
