"""Alerts on autoscalers: at their maximum, or without metrics. Only stacks with autoscaled models have them."""

from __future__ import annotations

from llmd_gke.catalog.metrics import KubeState
from llmd_gke.manifests import naming, promql
from llmd_gke.manifests.alerts.alert import Alert
from llmd_gke.manifests.alerts.replicas import KUBE_STATE, MINUTE
from llmd_gke.settings import StackSettings

BY = "by (namespace, horizontalpodautoscaler)"


def alerts(settings: StackSettings) -> tuple[Alert, ...]:
    """The alerts about autoscalers, none if every model's number of replicas is fixed."""
    scaled = [naming.autoscaler(model.name) for model in settings.autoscaled]
    if not scaled:
        return ()
    name = promql.one_of("horizontalpodautoscaler", scaled)
    ours = promql.pods(settings, name)
    active = 'condition="ScalingActive"'
    without = promql.pods(settings, name, active, 'status="false"')
    reading = promql.pods(settings, name, active, 'status="true"')
    return (
        Alert(
            name="AutoscalerAtMaximum",
            expression=f"max {BY} ({KubeState.HPA_DESIRED}{ours}) >= max {BY} ({KubeState.HPA_MAXIMUM}{ours})",
            seconds=30 * MINUTE,
            severity="info",
            origin="kube-state",
            means="The load has asked for `maxReplicas` for half an hour. More load makes requests wait "
            "(ModelQueueing).",
            do=(
                "Is the load expected? The dashboard shows requests by model.",
                "Raise `maxReplicas`, and the pool's `maxNodes` and quota with it (`llmd-gke doctor --stack STACK`).",
                "If the model is always at its maximum, set `replicas` to that number instead.",
            ),
            source=KUBE_STATE,
        ),
        Alert(
            name="AutoscalerBlind",
            expression=f"max {BY} ({KubeState.HPA_CONDITION}{without}) > 0 and "
            f"max {BY} (max_over_time({KubeState.HPA_CONDITION}{reading}[1d])) > 0"
            # At zero replicas an autoscaler is switched off.
            f"{promql.unless_asleep(settings, 'horizontalpodautoscaler', naming.autoscaler('$1'))}",
            seconds=15 * MINUTE,
            severity="warning",
            origin="kube-state",
            means="The autoscaler of a model cannot read its load, and keeps the number of replicas as it is, whatever "
            "arrives. It could read the load within the last day, so this is not the model's first start.",
            do=(
                "`kubectl describe hpa` shows the reason (`FailedGetExternalMetric`, `FailedGetPodsMetric`).",
                "No server answers: see ModelHasNoReadyReplica.",
                "With KEDA: the log of `keda-operator` in the namespace `keda`, and its role `monitoring.viewer`. With "
                "GKE's adapter: the cluster's `hpaProfile`, and the AutoscalingMetric of the model.",
            ),
            source=KUBE_STATE,
        ),
    )
