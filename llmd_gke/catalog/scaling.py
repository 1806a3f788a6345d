"""Autoscaling of replicas on GKE: by Google's managed metrics adapter, or by KEDA on versions without it.

Sources: https://docs.cloud.google.com/kubernetes-engine/docs/how-to/autoscale-using-metrics (2026-09: AutoscalingMetric
is generally available from ``[gke] autoscaling_metric`` of ``versions.toml``; gauges only, keys of labels without ``.``
and ``/``, 50 metrics a node); kedacore/keda v2.21.0 ``apis/keda/v1alpha1`` and ``pkg/scalers/prometheus_scaler.go``;
kedacore/charts ``keda/values.yaml`` of the same version.
"""

from __future__ import annotations

import math
from typing import Literal

Source = Literal["gke", "keda"]
"""The component that reads the load: GKE's managed adapter, or KEDA."""

METRIC_GROUP = "autoscaling.gke.io"
METRIC_VERSION = f"{METRIC_GROUP}/v1beta1"
METRIC = "AutoscalingMetric"
METRIC_PLURAL = "autoscalingmetrics"
METRIC_LABEL_KEY = r"[A-Za-z0-9_-]{1,63}"
"""What the managed adapter accepts as a key in a selector of pods: no ``app.kubernetes.io/name``."""
MODEL_LABEL = "llmd-gke-model"
"""The program's label of a model's pods, which such a selector can use."""
HPA_PROFILE = "PERFORMANCE"
"""``podAutoscaling.hpaProfile`` of a cluster: the managed adapter needs it."""

RUNNING_SHARE = 0.8
"""Fraction of ``maxNumSeqs`` that may run in each replica before another is added."""

HPA_VERSION = "autoscaling/v2"
HPA = "HorizontalPodAutoscaler"
HPA_TOLERANCE = 0.1
"""By how much the load may differ from the target before replicas change
(https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/#algorithm-details)."""
LONGEST_PERIOD_SECONDS = 1800
LONGEST_WINDOW_SECONDS = 3600
"""Limits of ``periodSeconds`` and ``stabilizationWindowSeconds`` (kubernetes/kubernetes
``pkg/apis/autoscaling/validation/validation.go``)."""

KEDA_GROUP = "keda.sh"
KEDA_VERSION = f"{KEDA_GROUP}/v1alpha1"
SCALED_OBJECT = "ScaledObject"
TRIGGER_AUTHENTICATION = "ClusterTriggerAuthentication"
KEDA_CHART = "keda"
KEDA_NAMESPACE = "keda"
KEDA_OPERATOR = "keda-operator"
"""Value of the label ``app`` of the operator's pods; the pods that serve metrics append ``-metrics-apiserver``."""
KEDA_METRICS = "keda-operator-metrics-apiserver"
KEDA_GRPC_PORT = 9666
KEDA_WEBHOOK_PORT = 9443
KEDA_METRICS_PORT = 6443
AUTHENTICATION = "google-monitoring"
"""Name of the ClusterTriggerAuthentication by which ScaledObjects read Google's Prometheus."""
READER_ROLE = "roles/monitoring.viewer"
POLLING_SECONDS = 15
CRON = "cron"
COOLDOWN_SECONDS = 300
"""Seconds without an active trigger after which the last replicas of a model go, if it may have none."""

SHORTEST_IDLE_SECONDS = 1800
"""Longer than the start of a TPU host and most models: servers that a request has started would otherwise go before its
client could return."""
LONGEST_IDLE_SECONDS = 7 * 24 * 3600

CONTROLLED_BY_KSERVE = ("-kserve-hpa", "-kserve-keda", "-kserve-va")
"""Suffixes of the names of objects that KServe deletes, or fails on, if the service has no ``scaling``
(``pkg/controller/v1alpha2/llmisvc/scaling.go``)."""


def most_running(sequences: int) -> int:
    """The highest threshold of running requests that servers of ``sequences`` at once exceed by more than
    :data:`HPA_TOLERANCE`; zero if there is none.
    """
    return math.ceil(sequences / (1 + HPA_TOLERANCE)) - 1


def running_threshold(sequences: int) -> int:
    """Running requests per replica above which another is added, for servers that run ``sequences`` at once."""
    return max(1, min(round(sequences * RUNNING_SHARE), most_running(sequences)))


def prometheus(project: str) -> str:
    """A project's Prometheus API (https://cloud.google.com/stackdriver/docs/managed-prometheus/query-api-ui)."""
    return f"https://monitoring.googleapis.com/v1/projects/{project}/location/global/prometheus"
