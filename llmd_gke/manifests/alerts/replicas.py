"""Alerts on the pods of models: missing, restarting or saturated ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llmd_gke.catalog.metrics import CONTAINER, Google, KubeState, Picker, Server
from llmd_gke.manifests import promql
from llmd_gke.manifests.alerts.alert import Alert
from llmd_gke.settings import ModelSettings, StackSettings

LLM_D = "https://github.com/llm-d/llm-d/blob/098dea78/docs/operations/observability/alerting.md"
VLLM = "https://docs.vllm.ai/en/latest/usage/metrics/"
KUBE_STATE = "https://cloud.google.com/kubernetes-engine/docs/how-to/kube-state-metrics"
SYSTEM_METRICS = "https://cloud.google.com/monitoring/api/metrics_kubernetes"

MINUTE = 60
QUEUE_PER_REPLICA = 10
KV_CACHE_FULL = 0.95
PREEMPTIONS_PER_SECOND = 0.1
RESTARTS_IN_AN_HOUR = 3
"""Restarts in an hour from which the alert fires. `increase` extrapolates: two restarts can count as more than two."""


def alerts(settings: StackSettings, running: Sequence[ModelSettings]) -> tuple[Alert, ...]:
    """The alerts about pods. ``running``: the models that are not stopped, at least one."""
    return (*_there(settings, running), *_kept(settings), *_full(settings))


def _there(settings: StackSettings, running: Sequence[ModelSettings]) -> tuple[Alert, ...]:
    ours = promql.pods(settings)
    ready = f"max {promql.BY_MODEL} ({Picker.READY}{ours})"
    was_ready = f"max {promql.BY_MODEL} (max_over_time({Picker.READY}{ours}[1d]))"
    return (
        Alert(
            name="ModelHasNoReadyReplica",
            expression=f"{ready} == 0 and {was_ready} > 0{promql.unless_asleep(settings)}",
            seconds=2 * MINUTE,
            severity="critical",
            origin="scraped",
            means="The endpoint picker has no ready pod to send requests to: every request of the model fails with "
            "status 503. The model had ready pods within the last day, so this is not its first start.",
            do=(
                "`llmd-gke status --stack STACK` says which stage the pods are in.",
                "All pods gone: look for a stock-out (ModelPodUnschedulable) or a node upgrade.",
                "Pods restart: `kubectl logs --previous` of the container `main`; undo the last change by `pulumi up` "
                "of the commit before it.",
            ),
            source=LLM_D,
        ),
        Alert(
            name="ModelLostReplicas",
            expression=" or ".join(_lost(settings, running)),
            seconds=30 * MINUTE,
            severity="warning",
            origin="kube-state",
            means="Fewer replicas serve than the settings ask for, for longer than a new pod takes to start. Requests "
            "are answered by the others, which have less room.",
            do=(
                "`llmd-gke status --stack STACK`: which stage do the missing pods wait in?",
                "No node: see ModelPodUnschedulable. A crash: see ServerRestarting.",
            ),
            source=KUBE_STATE,
        ),
        Alert(
            name="ModelPodUnschedulable",
            expression=f"max by (namespace, pod) ({KubeState.UNSCHEDULABLE}{ours}) > 0",
            seconds=20 * MINUTE,
            severity="warning",
            origin="kube-state",
            means="A pod has waited 20 minutes for a node. The zone has no TPU capacity, the quota is used up, or the "
            "pool has reached `maxNodes`.",
            do=(
                "`kubectl describe pod` shows the autoscaler's reason, `llmd-gke doctor --stack STACK` the quotas.",
                "Stock-out: another zone or capacity (docs/pools.md), or a reservation.",
                "Pool at `maxNodes`: raise it, or lower `replicas`.",
            ),
            source=KUBE_STATE,
        ),
    )


def _lost(settings: StackSettings, running: Sequence[ModelSettings]) -> Iterator[str]:
    """Expressions for missing pods: of Deployments, and of the StatefulSets that form groups of hosts."""
    spanning = [model.name for model in running if settings.spans_hosts(model)]
    single = [f"{model.name}-kserve" for model in running if model.name not in spanning]
    if single:
        ours = promql.pods(settings, promql.one_of("deployment", single))
        yield _fewer(KubeState.DEPLOYMENT_AVAILABLE, KubeState.DEPLOYMENT_WANTED, ours, "deployment")
    if spanning:
        # The leaders' StatefulSet has the group's name, those of workers also a number (LeaderWorkerSet).
        ours = promql.pods(settings, f'statefulset=~"({"|".join(spanning)})-kserve-mn(-[0-9]+)?"')
        yield _fewer(KubeState.STATEFULSET_READY, KubeState.STATEFULSET_WANTED, ours, "statefulset")


def _fewer(there: str, wanted: str, selector: str, kind: str) -> str:
    by = f"by (namespace, {kind})"
    return f"max {by} ({there}{selector}) < max {by} ({wanted}{selector})"


def _kept(settings: StackSettings) -> tuple[Alert, ...]:
    on_google = promql.resource(settings, CONTAINER, promql.one_of("namespace_name", settings.namespaces))
    ours = promql.pods(settings)
    return (
        Alert(
            name="ServerRestarting",
            expression=f"(sum by (namespace_name, pod_name, container_name) "
            f"(increase({Google.RESTARTS}{on_google}[1h])) or sum by (namespace, pod, container) "
            f"(increase({KubeState.RESTARTS}{ours}[1h]))) >= {RESTARTS_IN_AN_HOUR}",
            seconds=0,
            severity="warning",
            origin="google",
            means="A container of a model's namespace has restarted three times within an hour. Each restart of a "
            "server costs its start-up time, and the requests it was handling fail.",
            do=(
                "`kubectl logs --previous` of that container, and `kubectl describe pod` for the exit reason.",
                "`OOMKilled` or out of HBM: lower `maxModelLen`, `maxNumSeqs` or `maxNumBatchedTokens`.",
                "The start-up probe: the model needs longer than `startupMinutes`.",
            ),
            source=SYSTEM_METRICS,
        ),
    )


def _full(settings: StackSettings) -> tuple[Alert, ...]:
    ours = promql.pods(settings)
    return (
        Alert(
            name="ModelQueueing",
            expression=f"avg {promql.BY_MODEL} ({Server.WAITING}{ours}) > {QUEUE_PER_REPLICA}",
            seconds=10 * MINUTE,
            severity="warning",
            origin="scraped",
            means="More than ten requests wait in each replica. All replicas are full, and the time to the first token "
            "grows with the queue.",
            do=(
                "Is the load expected? The dashboard shows requests by model.",
                "Raise `replicas` (and the pool's `maxNodes`), or raise `maxNumSeqs` if KvCacheFull does not fire.",
                "Thresholds of `scheduler.saturation` let the endpoint picker reject sheddable requests.",
            ),
            source=LLM_D,
        ),
        Alert(
            name="KvCacheFull",
            expression=f"max {promql.BY_MODEL} ({Server.KV_CACHE}{ours}) > {KV_CACHE_FULL}",
            seconds=10 * MINUTE,
            severity="warning",
            origin="scraped",
            means="The KV cache of a replica is full. New requests wait, and running ones will be preempted and "
            "computed again.",
            do=(
                "One replica only: prefix routing sends it too much; lower the weight of the prefix scorer.",
                "All replicas: raise `replicas`, or lower `maxModelLen` or `maxNumSeqs`.",
            ),
            source=VLLM,
        ),
        Alert(
            name="ServerPreempts",
            expression=f"sum by (namespace, model, pod) (rate({Server.PREEMPTIONS}{ours}[10m])) > "
            f"{PREEMPTIONS_PER_SECOND}",
            seconds=10 * MINUTE,
            severity="warning",
            origin="scraped",
            means="A server takes the KV cache away from running requests and computes them again later: throughput "
            "falls and answers stall.",
            do=("Lower `maxNumSeqs`, so that fewer requests share the cache, or raise `replicas`.",),
            source=VLLM,
        ),
    )
