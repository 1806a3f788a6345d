"""Metrics that Google's collectors scrape at the front door: token usage by caller and model, at AI Gateway's sidecar.

Names of metrics: envoyproxy/ai-gateway v1.0.0 ``internal/metrics`` (``gen_ai_client_token_usage``).
"""

from __future__ import annotations

from llmd_gke.catalog import front_door, monitoring
from llmd_gke.json_types import JsonObject
from llmd_gke.manifests import firewall
from llmd_gke.manifests.scraping import pod_monitoring


def proxies(interval_seconds: int) -> JsonObject:
    """The PodMonitoring of every Envoy's sidecar."""
    endpoint: JsonObject = {"port": front_door.AI_METRICS_PORT, "path": "/metrics"}
    labels = dict(front_door.PROXY_LABELS)
    space = front_door.PROXIES_NAMESPACE
    return pod_monitoring(front_door.METRICS_JOB, space, {**labels}, endpoint, interval_seconds)


def network_policy() -> JsonObject:
    """Admits the collectors to that port."""
    return firewall.policy(
        "allow-collectors",
        front_door.PROXIES_NAMESPACE,
        {
            "podSelector": {"matchLabels": dict(front_door.PROXY_LABELS)},
            "policyTypes": ["Ingress"],
            "ingress": [
                {
                    "from": [firewall.in_namespace(monitoring.COLLECTOR_NAMESPACE)],
                    "ports": firewall.ports(front_door.AI_METRICS_PORT),
                }
            ],
        },
    )
