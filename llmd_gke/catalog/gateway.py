"""GKE's GatewayClasses and the networks their data plane comes from.

Sources: llm-d's gateway guide for GKE (guides/prereq, 3b9ac7a9), gateway-api ``conformance/reports`` v1.4 to v1.6
(gke-gateway), GoogleCloudPlatform/gke-gateway-api CRDs @fc40d606.
"""

from __future__ import annotations

REGIONAL_EXTERNAL = "gke-l7-regional-external-managed"
REGIONAL_INTERNAL = "gke-l7-rilb"

INFERENCE_POOL_CLASSES = frozenset({REGIONAL_EXTERNAL, REGIONAL_INTERNAL})
"""Classes that can carry an InferencePool in one cluster. Every other ``gke-l7-*`` class answers 503 forever."""

GKE_CLASS_PREFIX = "gke-l7-"

HEALTH_CHECK_RANGES = ("35.191.0.0/16", "130.211.0.0/22")
"""Sources of Google's load-balancer health checks (https://cloud.google.com/load-balancing/docs/health-checks)."""

DEFAULT_BACKEND_TIMEOUT_SECONDS = 30
"""GKE cuts any answer at this point unless a GCPBackendPolicy says otherwise: long generations end in 504."""

INFERENCE_POOL_GROUP = "inference.networking.k8s.io"
"""The only InferencePool group to refer to: ``inference.networking.x-k8s.io`` is the deprecated v1alpha2 one."""

CERTIFICATE_MANAGER_OPTION = "networking.gke.io/cert-manager-certs"
PRE_SHARED_OPTION = "networking.gke.io/pre-shared-certs"
"""TLS options of a listener of the regional classes; certificate *maps* are for global classes only
(https://cloud.google.com/kubernetes-engine/docs/how-to/secure-gateway)."""

CERTIFICATES_PER_LISTENER = 15
"""https://cloud.google.com/load-balancing/docs/quotas#ssl_certificates: certificates of one target HTTPS proxy."""
