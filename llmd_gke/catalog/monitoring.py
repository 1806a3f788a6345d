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
"""Service account of the collectors. It may read Secrets only where a RoleBinding permits it."""

DEFAULT_INTERVAL_SECONDS = 30
"""Seconds between two scrapes. Enough for alerts, whose shortest wait is two minutes; every sample is billed."""

PRICES_AS_OF = "2026-09"
"""The prices below are those of https://cloud.google.com/stackdriver/pricing as public repositories quoted it in August
and September 2026, that of samples as a tutorial of unknown date did; the page itself was not read."""
USD_PER_MILLION_SAMPLES = 0.06
"""The first tier, up to 50 billion samples of a billing account in a month. None is free."""
ALERTS_BILLED_FROM = "September 2027"
"""Earliest month in which Google bills alert policies; until then they are free."""
USD_PER_METRIC_REFERENCE = 0.35
USD_PER_MILLION_POINTS = 0.50
"""Price of alert policies from :data:`ALERTS_BILLED_FROM` on, per month: each point that a metric of an expression
returns at an evaluation is counted, before any comparison (https://cloud.google.com/monitoring/alerts/cost-control)."""
USD_PER_THOUSAND_UPTIME_CHECKS = 0.30
FREE_UPTIME_CHECKS = 1_000_000
"""Executions of uptime checks that are free, per project and month."""
UPTIME_PERIOD_SECONDS = 60
"""Seconds between two checks from one location. Google allows 60, 300, 600 and 900; alerts wait for five minutes."""
UPTIME_CHECKERS = 6
"""Number of locations from which a check is executed if it lists none."""
USD_PER_MILLION_SPANS = 0.20
FREE_SPANS = 2_500_000
"""Spans of Cloud Trace that are free, per billing account and month."""

USD_PER_GIB_OF_LOGS = 0.50
FREE_GIB_OF_LOGS = 50
"""Cloud Logging: size of the entries before indexing, with 30 days of storage; free per project and month."""
BYTES_OF_A_LOG_ENTRY = 850
"""A line of a server's log with its labels, about: an estimate from 1.7 million entries, 1 to 1.5 GB."""
STATISTICS_SECONDS = 10
"""Seconds between two lines with its throughput of a vLLM that serves (``VLLM_LOG_STATS_INTERVAL``)."""
METRIC_READS_PER_SECOND = 20
"""Reads of a server's ``/metrics`` by the endpoint picker (llm-d-router ``refresh-metrics-interval``, 50 ms), each a
line where the server logs them."""

SERIES_OF_A_SERVER = 400
"""Time series in one scrape of a model server, at most. llm-d-inference-sim 0.10.2 has 225 (counted, 2026-11); vLLM has
``http_*``, ``process_*``, ``python_*`` and some counters besides. Empty buckets of a histogram are not billed."""
SERIES_OF_A_PICKER = 500
"""Time series in one scrape of an endpoint picker. An estimate: llm-d-router 0.9 exports most metrics under two names,
and those of the Go runtime."""
STATES_OF_A_POD = 8
STATES_OF_A_DEPLOYMENT = 3
"""Kube state metrics in GKE's selection (two containers, five phases, unschedulable), sampled every 30 seconds:
https://cloud.google.com/kubernetes-engine/docs/how-to/kube-state-metrics."""
STATES_SECONDS = 30
