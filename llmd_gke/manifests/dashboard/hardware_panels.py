"""Panels about pods and hosts: where new pods wait, whether chips are used, what a token costs.

Based on ``dashboards/google-kubernetes-engine/gke-tpu-node-pool-status.json`` of
GoogleCloudPlatform/monitoring-dashboard-samples @25d8c3e8.
"""

from __future__ import annotations

from collections.abc import Callable

from llmd_gke.catalog.accelerators import ChipMetrics
from llmd_gke.catalog.metrics import NODE, NODE_POOL, POOL_OF_NODE, Google, KubeState, Picker, Server
from llmd_gke.manifests import promql
from llmd_gke.manifests.dashboard.panel import Panel, Query
from llmd_gke.settings import StackSettings

KUBE_STATE = "https://cloud.google.com/kubernetes-engine/docs/how-to/kube-state-metrics"
GKE = "https://cloud.google.com/monitoring/api/metrics_kubernetes"
SERVER_PODS = ('container="main"', 'pod=~".+-kserve-.+"', 'pod!~".+-kserve-router-scheduler-.+"')
"""Servers of models among all containers of their namespaces. KServe names Deployments ``NAME-kserve``, groups
``NAME-kserve-mn`` and pickers ``NAME-kserve-router-scheduler`` (kserve ``workload.go``, ``scheduler.go``); the
container is ``main`` in all of them."""


def starts(settings: StackSettings) -> list[Panel]:
    """Panels on what new pods wait for, and on the existing nodes."""
    servers = promql.pods(settings, *SERVER_PODS)
    pods = promql.pods(settings, *SERVER_PODS[1:])
    waits = {
        label: promql.pods(settings, *SERVER_PODS, promql.one_of("reason", reasons))
        for label, reasons in (
            ("image, volumes", ["ContainerCreating"]),
            ("download of weights", ["PodInitializing"]),
            ("crashed, waits to start again", ["CrashLoopBackOff"]),
            ("image cannot be pulled", ["ImagePullBackOff", "ErrImagePull"]),
        )
    }
    waiting = f"{KubeState.WAITING_REASON}{servers} == 1"
    started = f"({KubeState.CONTAINER_READY}{servers} == 0) unless on (namespace, pod) ({waiting})"
    stages = (
        Query(f"sum by (namespace) ({KubeState.UNSCHEDULABLE}{pods})", "node ({{namespace}})"),
        *(
            Query(f"sum by (namespace) ({KubeState.WAITING_REASON}{selector})", f"{label} ({{{{namespace}}}})")
            for label, selector in waits.items()
        ),
        Query(f"count by (namespace) ({started})", "loading and compiling ({{namespace}})"),
    )
    return [
        Panel(
            key="start-stages",
            title="New pods by what they wait for",
            unit="count",
            queries=stages,
            reading="A new pod waits for a node, image and weights, and then loads and compiles. The panel is empty "
            "while all are ready. If a stage does not end, see `llmd-gke status`.",
            source=KUBE_STATE,
            kind="stacked",
        ),
        Panel(
            key="nodes",
            title="Nodes by pool",
            unit="count",
            queries=(
                Query(
                    f"count by ({POOL_OF_NODE}) ({Google.NODE_CORES}{promql.resource(settings, NODE)})",
                    f"{{{{{POOL_OF_NODE}}}}}",
                ),
            ),
            reading="Hosts of models come and go with replicas and are billed while they exist. Fewer hosts than "
            "replicas mean no capacity or no quota.",
            source=GKE,
        ),
        *_pool_status(settings),
    ]


def _pool_status(settings: StackSettings) -> list[Panel]:
    spanning = [pool.name for pool in settings.pools if pool.slice.multi_host]
    if not spanning:
        return []
    selector = promql.resource(settings, NODE_POOL, promql.one_of("node_pool_name", spanning))
    return [
        Panel(
            key="pool-status",
            title="State of TPU slices with several hosts",
            unit="count",
            queries=(
                Query(
                    f"sum by (node_pool_name, status) ({Google.POOL_STATUS}{selector})", "{{node_pool_name}} {{status}}"
                ),
            ),
            reading="A slice serves only while all its hosts are there: anything but RUNNING stops its replica.",
            source=GKE,
            kind="stacked",
        )
    ]


def chips(settings: StackSettings, window: str) -> list[Panel]:
    """Use of the chips, and the price of a token. ``window``: the range of rates, such as ``2m``."""
    kinds = {pool.accelerator.name: pool.accelerator.metrics for pool in settings.pools}.values()

    def by_host(how: str, name: Callable[[ChipMetrics], str], *, whole: bool = False) -> tuple[Query, ...]:
        """A query for each kind of accelerator; ``whole``: as a share of all memory."""
        queries: list[Query] = []
        for kind in kinds:
            of_host, chips = f"{how} by ({kind.node})", promql.chips(settings, kind)
            all_of_it = " + ".join(f"{of_host} ({metric}{chips})" for metric in kind.memory_total)
            value = f"{of_host} ({name(kind)}{chips})" + (f" / ({all_of_it})" if whole else "")
            queries.append(Query(value, f"{{{{{kind.node}}}}}"))
        return tuple(queries)

    return [
        Panel(
            key="chip-utilization",
            title="Utilization of the chips",
            unit="percent",
            queries=by_host("avg", lambda kind: kind.utilization),
            reading="Share of a TPU's matrix units in use, or of the time in which a GPU computes. Near 0 for hours, a "
            "host is idle but billed.",
            source=GKE,
        ),
        Panel(
            key="hbm-bandwidth",
            title="Bandwidth of the chips' memory",
            unit="percent",
            queries=by_host("avg", lambda kind: kind.bandwidth),
            reading="Usually the limit of decoding. Not every TPU type reports it, so an empty panel means nothing.",
            source=GKE,
        ),
        Panel(
            key="hbm-used",
            title="Memory of the chips in use",
            unit="ratio",
            queries=by_host("sum", lambda kind: kind.memory_used, whole=True),
            reading="Weights and KV cache. The server allocates both at its start, so a flat line is normal.",
            source=GKE,
        ),
        *_price(settings, window),
    ]


def _price(settings: StackSettings, window: str) -> list[Panel]:
    """Panels on the price of tokens; none if no model has a public price. Stopped models are left out."""
    queries: list[Query] = []
    for model in settings.models:
        pool = settings.pool(model.pool)
        per_hour = pool.cost(pool.zone_in(settings.cluster.zone), pool.slice.hosts).usd_per_hour
        if model.stopped or per_hour is None:
            continue
        one = f'{{cluster="{settings.cluster.name}",namespace="{model.namespace}",model="{model.name}"}}'
        tokens = f"(sum {promql.BY_MODEL} (rate({Server.GENERATED_TOKENS}{one}[{window}])) > 0)"
        queries.append(
            Query(f"max {promql.BY_MODEL} ({Picker.READY}{one}) * {per_hour:g} * 1e6 / 3600 / {tokens}", "{{model}}")
        )
    if not queries:
        return []
    return [
        Panel(
            key="price",
            title="Price of a million output tokens",
            unit="USD",
            queries=tuple(queries),
            reading="List price of the chips of ready replicas, divided by their current throughput. It falls with "
            "load; without requests there is no line. It excludes cluster, system nodes, traffic, and hosts that are "
            "still starting.",
            source="llmd_gke/catalog/zones.py",
        )
    ]
