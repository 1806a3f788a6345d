"""Google Cloud Managed Service for Prometheus, as GKE runs it.

Sources: GoogleCloudPlatform/prometheus-engine ``charts/operator`` and ``manifests`` @2ffde4ec (2026-07-02, release
0.17.3), https://cloud.google.com/stackdriver/docs/managed-prometheus/setup-managed.
"""

from __future__ import annotations

GROUP = "monitoring.googleapis.com"
API_VERSION = f"{GROUP}/v1"
POD_MONITORING = "PodMonitoring"

COLLECTOR_NAMESPACE = "gmp-system"
"""Namespace of the collectors on a Standard cluster (Autopilot: ``gke-gmp-system``). They have addresses of the pod
network, so that NetworkPolicies apply to them."""
COLLECTOR_ACCOUNT = "collector"
"""Service account of the collectors. It may read Secrets only where a RoleBinding says so."""

DEFAULT_INTERVAL_SECONDS = 30
"""Between two scrapes. Enough for alerts, whose shortest wait is two minutes; every sample is billed."""
