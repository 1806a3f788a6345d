"""The panels of a stack, by question: are requests served, how fast, what limits them, what do they cost.

After ``dashboards/vllm/vllm-prometheus-2.json``,
``dashboards/gateway-api-inference-extension/inference-extension-prometheus-2.json`` and
``dashboards/google-kubernetes-engine/gke-tpu-node-pool-status.json`` of
GoogleCloudPlatform/monitoring-dashboard-samples @25d8c3e8. There is no panel for an autoscaler of
replicas: the program makes none.
"""

from __future__ import annotations

from llmd_gke.catalog import upstream
from llmd_gke.catalog.metrics import (
    EXTERNAL_LB,
    INTERNAL_LB,
    NODE,
    NODE_POOL,
    SIMULATED,
    Google,
    KubeState,
    Picker,
    Server,
)
from llmd_gke.manifests import promql
from llmd_gke.manifests.dashboard.panel import DashboardSection, Panel, Query
from llmd_gke.settings import StackSettings

VLLM = "https://docs.vllm.ai/en/latest/usage/metrics/"
PICKER = upstream.inference_extension("site-src/guides/metrics-and-observability.md")
KUBE_STATE = "https://cloud.google.com/kubernetes-engine/docs/how-to/kube-state-metrics"
LOAD_BALANCER = "https://cloud.google.com/load-balancing/docs/metrics"
GKE = "https://cloud.google.com/monitoring/api/metrics_kubernetes"

QUANTILES = (0.5, 0.95, 0.99)

SERVER_PODS = ('container="main"', 'pod=~".+-kserve-.+"', 'pod!~".+-kserve-router-scheduler-.+"')
"""Servers of models among all containers of their namespaces. KServe names Deployments ``NAME-kserve``, groups
``NAME-kserve-mn`` and pickers ``NAME-kserve-router-scheduler`` (kserve ``workload.go``, ``scheduler.go``); the
container is ``main`` in all of them."""


def sections(settings: StackSettings) -> tuple[DashboardSection, ...]:
    """All panels of a stack."""
    window = promql.rate_window(settings.monitoring.interval_seconds)
    return (
        DashboardSection("Service", "Is every model served, and what do clients get?", _service(settings, window)),
        DashboardSection("Latency", "How long do clients wait?", _latency(settings, window)),
        DashboardSection("Load", "What limits throughput: queue, KV cache, or nothing?", _load(settings, window)),
        DashboardSection("Starts", "Where do new pods wait?", _starts(settings)),
        DashboardSection(
            "Chips and price", "Are the chips used, and what does a token cost?", _chips(settings, window)
        ),
    )


def panels(settings: StackSettings) -> tuple[Panel, ...]:
    """All panels of a stack without their sections."""
    return tuple(panel for section in sections(settings) for panel in section.panels)


def _service(settings: StackSettings, window: str) -> list[Panel]:
    ours = promql.pods(settings)
    wanted = promql.pods(settings, promql.one_of("deployment", [f"{model.name}-kserve" for model in settings.models]))
    external = settings.gateway.exposure == "external"
    requests = Google.EXTERNAL_REQUESTS if external else Google.INTERNAL_REQUESTS
    duration = Google.EXTERNAL_MILLISECONDS if external else Google.INTERNAL_MILLISECONDS
    edge = promql.load_balancer(settings, EXTERNAL_LB if external else INTERNAL_LB)
    return [
        Panel(
            "ready-replicas",
            "Ready replicas",
            "count",
            (
                Query(f"max {promql.BY_MODEL} ({Picker.READY}{ours})", "{{model}} ready"),
                Query(
                    f"max by (namespace, deployment) ({KubeState.DEPLOYMENT_WANTED}{wanted})", "{{deployment}} wanted"
                ),
            ),
            "Replicas that the endpoint picker sends requests to, and how many there should be. At 0 the model answers "
            "nobody. Models that span hosts have no second line.",
            PICKER,
        ),
        Panel(
            "requests",
            "Requests",
            "per second",
            (Query(f"sum {promql.BY_MODEL} (rate({Picker.REQUESTS}{ours}[{window}]))", "{{model}}"),),
            "Requests that reached an endpoint picker.",
            PICKER,
        ),
        Panel(
            "errors",
            "Errors by code",
            "per second",
            (
                Query(
                    f"sum by (namespace, model, error_code) (rate({Picker.ERRORS}{ours}[{window}]))",
                    "{{model}} {{error_code}}",
                ),
            ),
            "Requests that failed behind the gateway. No line is good: a code has none before its first error.",
            PICKER,
            "stacked",
        ),
        Panel(
            "gateway-answers",
            "Answers of the gateway",
            "per second",
            (Query(f"sum by (response_code_class) (rate({requests}{edge}[{window}]))", "{{response_code_class}}"),),
            "Answers by class: 500 are errors of ours, 400 of clients. What the load balancer answers by itself is "
            "here and nowhere else.",
            LOAD_BALANCER,
            "stacked",
        ),
        Panel(
            "gateway-latency",
            "Duration at the gateway",
            "milliseconds",
            tuple(
                Query(
                    f"histogram_quantile({share:g}, sum by (le) (rate({duration}_bucket{edge}[{window}])))",
                    f"p{share * 100:g}",
                )
                for share in QUANTILES[:2]
            ),
            "From the request's first byte to the answer's last. More than the servers' own duration: waiting for a "
            "place, or slow clients.",
            LOAD_BALANCER,
        ),
    ]


def _quantiles(histogram: str, selector: str, window: str) -> tuple[Query, ...]:
    return tuple(
        Query(
            promql.quantile(share, histogram, selector, "namespace, model", window), f"{{{{model}}}} p{share * 100:g}"
        )
        for share in QUANTILES
    )


def _latency(settings: StackSettings, window: str) -> list[Panel]:
    ours = promql.pods(settings)
    return [
        Panel(
            "first-token",
            "Time to first token",
            "seconds",
            _quantiles(Server.FIRST_TOKEN_SECONDS, ours, window),
            "Queue and prefill. It grows with the length of prompts, and suddenly once requests wait.",
            VLLM,
        ),
        Panel(
            "inter-token",
            "Time between tokens",
            "seconds",
            _quantiles(Server.INTER_TOKEN_SECONDS, ours, window),
            "The speed at which an answer appears. It grows with the number of requests a replica works on.",
            VLLM,
        ),
        Panel(
            "request-duration",
            "Duration of a request in the server",
            "seconds",
            _quantiles(Server.REQUEST_SECONDS, ours, window),
            "From arrival at the server to the last token: first token, and the others.",
            VLLM,
        ),
        Panel(
            "picker-decision",
            "Decision of the endpoint picker",
            "seconds",
            _quantiles(Picker.DECISION_SECONDS, ours, window)[1:],
            "What choosing a replica adds to each request. Milliseconds; more means a picker without CPU.",
            PICKER,
        ),
    ]


def _either(name: str, selector: str, window: str) -> str:
    """The rate of a counter by model, or of the counter by which the simulator replaces it."""
    expressions = [f"sum {promql.BY_MODEL} (rate({one}{selector}[{window}]))" for one in (name, SIMULATED[name])]
    return f"({' or '.join(expressions)})"


def _load(settings: StackSettings, window: str) -> list[Panel]:
    ours = promql.pods(settings)
    hits, asked = (_either(name, ours, window) for name in (Server.PREFIX_HITS, Server.PREFIX_QUERIES))
    return [
        Panel(
            "requests-in-servers",
            "Requests in each replica",
            "count",
            tuple(
                Query(f"sum by (namespace, model, pod) ({name}{ours})", f"{{{{pod}}}} {label}")
                for name, label in ((Server.RUNNING, "running"), (Server.WAITING, "waiting"))
            ),
            "Waiting above 0 for minutes: every replica is full, and more load only lengthens the queue.",
            VLLM,
        ),
        Panel(
            "kv-cache",
            "KV cache in use",
            "ratio",
            (Query(f"max by (namespace, model, pod) ({Server.KV_CACHE}{ours})", "{{pod}}"),),
            "At 1 the server puts requests back and computes them again. One replica far above the others: prefix "
            "routing sends it too much.",
            VLLM,
        ),
        Panel(
            "prefix-hits",
            "Prefix cache hits",
            "ratio",
            (Query(f"{hits} / ({asked} > 0)", "{{model}}"),),
            "Share of prompt tokens that were in the cache. Near 0 with prefix caching on: prompts share no prefix, "
            "or requests of one conversation go to different replicas.",
            VLLM,
        ),
        Panel(
            "tokens",
            "Tokens",
            "per second",
            tuple(
                Query(f"sum {promql.BY_MODEL} (rate({name}{ours}[{window}]))", f"{{{{model}}}} {label}")
                for name, label in ((Server.PROMPT_TOKENS, "in"), (Server.GENERATED_TOKENS, "out"))
            ),
            "The work that is done. Flat while requests wait: this is the most the replicas can do.",
            VLLM,
        ),
        Panel(
            "preemptions",
            "Preempted requests",
            "per second",
            (Query(f"sum by (namespace, model, pod) (rate({Server.PREEMPTIONS}{ours}[{window}]))", "{{pod}}"),),
            "Requests that lost their KV cache to others. Anything but 0 for long: lower maxNumSeqs or maxModelLen.",
            VLLM,
        ),
    ]


def _starts(settings: StackSettings) -> list[Panel]:
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
            "start-stages",
            "New pods by what they wait for",
            "count",
            stages,
            "A new pod waits for a node, image and weights, and then loads and compiles. Nothing is drawn while all "
            "are ready. A stage that does not end is the one to look into: `llmd-gke status`.",
            KUBE_STATE,
            "stacked",
        ),
        Panel(
            "nodes",
            "Nodes",
            "count",
            tuple(
                Query(f"count({Google.NODE_CORES}{promql.resource(settings, NODE, names)})", label)
                for names, label in (
                    (f'node_name=~"{_hosts(settings)}"', "TPU hosts"),
                    (f'node_name!~"{_hosts(settings)}"', "other nodes"),
                )
            ),
            "TPU hosts come and go with replicas and are billed while they exist. Fewer than there should be replicas: "
            "no capacity, or no quota.",
            GKE,
        ),
        *_pool_status(settings),
    ]


def _hosts(settings: StackSettings) -> str:
    """A regular expression (RE2) for the names of nodes with accelerators."""
    return "|".join(sorted({pool.accelerator.node_names for pool in settings.pools}))


def _pool_status(settings: StackSettings) -> list[Panel]:
    spanning = [pool.name for pool in settings.pools if pool.slice.multi_host]
    if not spanning:
        return []
    selector = promql.resource(settings, NODE_POOL, promql.one_of("node_pool_name", spanning))
    return [
        Panel(
            "pool-status",
            "State of TPU slices with several hosts",
            "count",
            (
                Query(
                    f"sum by (node_pool_name, status) ({Google.POOL_STATUS}{selector})", "{{node_pool_name}} {{status}}"
                ),
            ),
            "A slice serves only while all its hosts are there: anything but RUNNING stops its replica.",
            GKE,
            "stacked",
        )
    ]


def _chips(settings: StackSettings, window: str) -> list[Panel]:
    hosts = promql.resource(settings, NODE, f'node_name=~"{_hosts(settings)}"')
    by_node = "by (node_name)"
    used, total = (f"sum {by_node} ({name}{hosts})" for name in (Google.HBM_USED_BYTES, Google.HBM_TOTAL_BYTES))
    return [
        Panel(
            "tensorcore",
            "TensorCore utilization",
            "percent",
            (Query(f"avg {by_node} ({Google.TENSORCORE_PERCENT}{hosts})", "{{node_name}}"),),
            "How much of the matrix units is used. Near 0 for hours: a host is billed and does nothing.",
            GKE,
        ),
        Panel(
            "hbm-bandwidth",
            "HBM bandwidth",
            "percent",
            (Query(f"avg {by_node} ({Google.HBM_BANDWIDTH_PERCENT}{hosts})", "{{node_name}}"),),
            "What decoding is usually limited by. Not every TPU type reports it: an empty panel says nothing.",
            GKE,
        ),
        Panel(
            "hbm-used",
            "HBM in use",
            "ratio",
            (Query(f"{used} / {total}", "{{node_name}}"),),
            "Weights and KV cache, which the server takes at its start: flat is as it should be.",
            GKE,
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
            "price",
            "Price of a million output tokens",
            "USD",
            tuple(queries),
            "List price of the chips of ready replicas, by the tokens they make now. It falls with load; without "
            "requests there is no line. Not in it: cluster, system nodes, traffic, and hosts that are still starting.",
            "llmd_gke/catalog/zones.py",
        )
    ]
