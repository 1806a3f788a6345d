"""kube-state-metrics with what GKE's package of kube state metrics has, and nothing more.

Metrics by component of ``monitoringConfig.enableComponents``:
https://cloud.google.com/kubernetes-engine/docs/how-to/kube-state-metrics (2026-04-10). A metric that is not there, such
as ``kube_pod_container_status_restarts_total``, does not exist on GKE either.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from llmd_common.kubernetes.fields import Object

PORT, OWN_PORT = 8085, 8086
"""Ports of the exported metrics, and of metrics of the process itself, both on loopback."""
JOB = "kube-state-metrics"
INTERVAL = "30s"
"""Interval at which GKE samples the metrics."""

RESTARTS = "kube_pod_container_status_restarts_total"
GOOGLES_RESTARTS = "kubernetes_io:container_restart_count"
"""What counts restarts on GKE, a system metric of every cluster: https://cloud.google.com/monitoring/api/metrics_kubernetes."""
SYSTEM_JOB = "system-metrics"


@dataclass(frozen=True)
class Component:
    """A component: the kinds of objects it looks at, and its metrics."""

    resources: str
    metrics: tuple[str, ...]


_HPA = "kube_horizontalpodautoscaler"
COMPONENTS: Mapping[str, Component] = {
    "POD": Component(
        "pods",
        (
            "kube_pod_container_status_ready",
            "kube_pod_container_status_waiting_reason",
            "kube_pod_status_phase",
            "kube_pod_status_unschedulable",
        ),
    ),
    "DEPLOYMENT": Component(
        "deployments",
        (
            "kube_deployment_spec_replicas",
            "kube_deployment_status_replicas_available",
            "kube_deployment_status_replicas_updated",
        ),
    ),
    "STATEFULSET": Component(
        "statefulsets",
        (
            "kube_statefulset_replicas",
            "kube_statefulset_status_replicas_ready",
            "kube_statefulset_status_replicas_updated",
        ),
    ),
    "DAEMONSET": Component(
        "daemonsets",
        (
            "kube_daemonset_status_desired_number_scheduled",
            "kube_daemonset_status_number_misscheduled",
            "kube_daemonset_status_number_ready",
            "kube_daemonset_status_updated_number_scheduled",
        ),
    ),
    "HPA": Component(
        "horizontalpodautoscalers",
        (
            f"{_HPA}_spec_max_replicas",
            f"{_HPA}_spec_min_replicas",
            f"{_HPA}_spec_target_metric",
            f"{_HPA}_status_condition",
            f"{_HPA}_status_current_replicas",
            f"{_HPA}_status_desired_replicas",
        ),
    ),
}
"""Components by name, without those of volumes and JobSets, which this program does not use."""


def command(program: Path, kubeconfig: Path, components: Collection[str]) -> tuple[str, ...]:
    """The command line for the components that a cluster has on."""
    chosen = [component for name, component in COMPONENTS.items() if name in components]
    # Restarts are on every cluster, under another name: `googles_name`.
    kinds = dict.fromkeys([*(component.resources for component in chosen), "pods"])
    metrics = ",".join([*(metric for component in chosen for metric in component.metrics), RESTARTS])
    return (
        str(program),
        f"--kubeconfig={kubeconfig}",
        "--host=127.0.0.1",
        f"--port={PORT}",
        "--telemetry-host=127.0.0.1",
        f"--telemetry-port={OWN_PORT}",
        f"--resources={','.join(kinds)}",
        f"--metric-allowlist={metrics}",
        "--v=0",
    )


def googles_name(cluster: str) -> list[Object]:
    """Relabeling that keeps restarts alone, with the name and the labels that Google's system metric has in PromQL.

    Labels: https://cloud.google.com/monitoring/promql/promql-mapping and the resource ``k8s_container``.
    """
    renamed = {"namespace_name": "namespace", "pod_name": "pod", "container_name": "container"}
    constant = {"monitored_resource": "k8s_container", "cluster_name": cluster, "__name__": GOOGLES_RESTARTS}
    return [
        {"source_labels": ["__name__"], "regex": RESTARTS, "action": "keep"},
        *({"source_labels": [old], "target_label": new} for new, old in renamed.items()),
        *({"target_label": label, "replacement": value} for label, value in constant.items()),
        {"regex": "namespace|pod|container|uid|job|instance|cluster", "action": "labeldrop"},
    ]
