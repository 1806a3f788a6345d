"""Panels about requests: are they served, how fast, and what limits them.

Based on ``dashboards/vllm/vllm-prometheus-2.json`` and
``dashboards/gateway-api-inference-extension/inference-extension-prometheus-2.json`` of
GoogleCloudPlatform/monitoring-dashboard-samples @25d8c3e8.
"""

from __future__ import annotations

from llmd_gke.catalog import upstream
from llmd_gke.catalog.metrics import SIMULATED, KubeState, Picker, Server
from llmd_gke.manifests import promql
from llmd_gke.manifests.dashboard.panel import Panel, Query
from llmd_gke.settings import StackSettings

VLLM = "https://docs.vllm.ai/en/latest/usage/metrics/"
PICKER = upstream.inference_extension("site-src/guides/metrics-and-observability.md")
LOAD_BALANCER = "https://cloud.google.com/load-balancing/docs/metrics"
QUANTILES = (0.5, 0.95, 0.99)


def service(settings: StackSettings, window: str) -> list[Panel]:
    """Panels on replicas, requests, errors and the gateway's responses. ``window``: the range of rates (``2m``)."""
    ours = promql.pods(settings)
    wanted = promql.pods(settings, promql.one_of("deployment", [f"{model.name}-kserve" for model in settings.models]))
    edge = promql.edge(settings)
    answers = edge.selector()
    return [
        Panel(
            key="ready-replicas",
            title="Ready replicas",
            unit="count",
            queries=(
                Query(f"max {promql.BY_MODEL} ({Picker.READY}{ours})", "{{model}} ready"),
                Query(
                    f"max by (namespace, deployment) ({KubeState.DEPLOYMENT_WANTED}{wanted})", "{{deployment}} wanted"
                ),
            ),
            reading="Replicas that the endpoint picker sends requests to, and the number that should be ready. At 0 "
            "the model is not served. Models that span hosts have no second line.",
            source=PICKER,
        ),
        Panel(
            key="requests",
            title="Requests",
            unit="per second",
            queries=(Query(f"sum {promql.BY_MODEL} (rate({Picker.REQUESTS}{ours}[{window}]))", "{{model}}"),),
            reading="Requests that reached an endpoint picker.",
            source=PICKER,
        ),
        Panel(
            key="errors",
            title="Errors by code",
            unit="per second",
            queries=(
                Query(
                    f"sum by (namespace, model, error_code) (rate({Picker.ERRORS}{ours}[{window}]))",
                    "{{model}} {{error_code}}",
                ),
            ),
            reading="Requests that failed behind the gateway. An empty panel is good: a code has no line before its "
            "first error.",
            source=PICKER,
            kind="stacked",
        ),
        Panel(
            key="gateway-answers",
            title="Answers of the gateway",
            unit="per second",
            queries=(
                Query(f"sum by ({edge.code}) (rate({edge.requests}{answers}[{window}]))", f"{{{{{edge.code}}}}}"),
            ),
            reading="Answers by class or status: 500 are server errors, 400 client errors. Only this panel includes "
            "the load balancer's own answers.",
            source=LOAD_BALANCER,
            kind="stacked",
        ),
        Panel(
            key="gateway-latency",
            title="Duration at the gateway",
            unit="milliseconds",
            queries=tuple(
                Query(
                    f"histogram_quantile({share:g}, sum by (le) (rate({edge.milliseconds}_bucket{answers}[{window}])))",
                    f"p{share * 100:g}",
                )
                for share in QUANTILES[:2]
            ),
            reading="From the request's first byte to the answer's last. If it is much longer than the servers' own "
            "duration, requests queue or clients are slow.",
            source=LOAD_BALANCER,
        ),
    ]


def _quantiles(histogram: str, selector: str, window: str) -> tuple[Query, ...]:
    return tuple(
        Query(
            promql.quantile(share, histogram, selector, "namespace, model", window), f"{{{{model}}}} p{share * 100:g}"
        )
        for share in QUANTILES
    )


def latency(settings: StackSettings, window: str) -> list[Panel]:
    """Durations of requests in server and picker. ``window``: the range of rates, such as ``2m``."""
    ours = promql.pods(settings)
    return [
        Panel(
            key="first-token",
            title="Time to first token",
            unit="seconds",
            queries=_quantiles(Server.FIRST_TOKEN_SECONDS, ours, window),
            reading="Queue and prefill. It grows with the length of prompts, and suddenly once requests wait.",
            source=VLLM,
        ),
        Panel(
            key="inter-token",
            title="Time between tokens",
            unit="seconds",
            queries=_quantiles(Server.INTER_TOKEN_SECONDS, ours, window),
            reading="The speed at which an answer appears. It grows with the number of requests a replica works on.",
            source=VLLM,
        ),
        Panel(
            key="request-duration",
            title="Duration of a request in the server",
            unit="seconds",
            queries=_quantiles(Server.REQUEST_SECONDS, ours, window),
            reading="From arrival at the server to the last token: first token, and the others.",
            source=VLLM,
        ),
        Panel(
            key="picker-decision",
            title="Decision of the endpoint picker",
            unit="seconds",
            queries=_quantiles(Picker.DECISION_SECONDS, ours, window)[1:],
            reading="The time that choosing a replica adds to each request: milliseconds, unless the picker lacks CPU.",
            source=PICKER,
        ),
    ]


def _either(name: str, selector: str, window: str) -> str:
    """The rate of a counter by model, or of the counter by which the simulator replaces it."""
    expressions = [f"sum {promql.BY_MODEL} (rate({one}{selector}[{window}]))" for one in (name, SIMULATED[name])]
    return f"({' or '.join(expressions)})"


def load(settings: StackSettings, window: str) -> list[Panel]:
    """Queue, KV cache and tokens of each replica. ``window``: the range of rates, such as ``2m``."""
    ours = promql.pods(settings)
    hits, asked = (_either(name, ours, window) for name in (Server.PREFIX_HITS, Server.PREFIX_QUERIES))
    return [
        Panel(
            key="requests-in-servers",
            title="Requests in each replica",
            unit="count",
            queries=tuple(
                Query(f"sum by (namespace, model, pod) ({name}{ours})", f"{{{{pod}}}} {label}")
                for name, label in ((Server.RUNNING, "running"), (Server.WAITING, "waiting"))
            ),
            reading="Waiting above 0 for minutes: every replica is full, and more load only lengthens the queue.",
            source=VLLM,
        ),
        Panel(
            key="kv-cache",
            title="KV cache in use",
            unit="ratio",
            queries=(Query(f"max by (namespace, model, pod) ({Server.KV_CACHE}{ours})", "{{pod}}"),),
            reading="At 1 the server puts requests back and computes them again. One replica far above the others: "
            "prefix routing sends it too much.",
            source=VLLM,
        ),
        Panel(
            key="prefix-hits",
            title="Prefix cache hits",
            unit="ratio",
            queries=(Query(f"{hits} / ({asked} > 0)", "{{model}}"),),
            reading="Share of prompt tokens that were in the cache. Near 0 with prefix caching on: prompts share no "
            "prefix, or requests of one conversation go to different replicas.",
            source=VLLM,
        ),
        Panel(
            key="tokens",
            title="Tokens",
            unit="per second",
            queries=tuple(
                Query(f"sum {promql.BY_MODEL} (rate({name}{ours}[{window}]))", f"{{{{model}}}} {label}")
                for name, label in ((Server.PROMPT_TOKENS, "in"), (Server.GENERATED_TOKENS, "out"))
            ),
            reading="The throughput. If it is flat while requests wait, the replicas are at their limit.",
            source=VLLM,
        ),
        Panel(
            key="preemptions",
            title="Preempted requests",
            unit="per second",
            queries=(Query(f"sum by (namespace, model, pod) (rate({Server.PREEMPTIONS}{ours}[{window}]))", "{{pod}}"),),
            reading="Requests that lost their KV cache to others. If it stays above 0, lower maxNumSeqs or "
            "maxModelLen.",
            source=VLLM,
        ),
    ]
