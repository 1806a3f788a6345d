"""Alerts on the objectives of a model, once for each model.

The error budget is ``1 - availability``. An alert fires while it is consumed many times too fast in two windows: the
long window suppresses alerts on short disturbances, the short one ends the alert soon after the disturbance
(https://sre.google/workbook/alerting-on-slos/, "Multiwindow, Multi-Burn-Rate Alerts").
"""

from __future__ import annotations

from dataclasses import dataclass

from llmd_gke.catalog.metrics import Picker, Server
from llmd_gke.manifests import promql
from llmd_gke.manifests.alerts.alert import Alert, Severity
from llmd_gke.manifests.alerts.replicas import MINUTE, VLLM
from llmd_gke.settings import ModelSettings, StackSettings

WORKBOOK = "https://sre.google/workbook/alerting-on-slos/"

PICKER_FAULTS = ("Internal", "ServiceUnavailable")
"""Values of ``error_code`` that are the endpoint picker's fault. The others are those of clients (``BadRequest``,
``Unauthorized``, ``Forbidden``, ``NotFound``), requests that it sheds deliberately (``ResourceExhausted``), and
servers' errors (``ModelServerError``), which include their status 4xx and are counted at the servers. The picker of the
inference extension 1.5.0 never counts errors of servers (``pkg/epp/handlers/server.go``)."""

FEWEST_ERRORS = 5
"""Minimum number of errors in the long window: with little traffic one failed request would be a large share."""

PERCENTILE = 0.95


@dataclass(frozen=True)
class Burn:
    """A burn rate: the budget is consumed ``rate`` times as fast as allowed, in both windows."""

    name: str
    rate: float
    long: str
    short: str
    minutes: int
    severity: Severity
    budget: str


BURNS = (
    Burn("ModelErrorRatioFast", 14.4, "1h", "5m", 2, "critical", "2 % of a month's budget within one hour"),
    Burn("ModelErrorRatioSlow", 6, "6h", "30m", 15, "warning", "5 % of a month's budget within six hours"),
)
"""The workbook's first two burn rates. The third, over three days, is for tickets and not for alerts."""


def alerts(settings: StackSettings, model: ModelSettings) -> tuple[Alert, ...]:
    """The alerts on errors, latency and the endpoint picker of one model."""
    return (_picker(settings, model), *(_burn(settings, model, burn) for burn in BURNS), *_latency(settings, model))


def _selector(settings: StackSettings, model: ModelSettings, *more: str) -> str:
    matchers = (f'namespace="{model.namespace}"', f'model="{model.name}"', *more)
    return "{" + ",".join((f'cluster="{settings.cluster.name}"', *matchers)) + "}"


def _picker(settings: StackSettings, model: ModelSettings) -> Alert:
    return Alert(
        "PickerMetricsAbsent",
        f"absent({Picker.READY}{_selector(settings, model)})",
        5 * MINUTE,
        "critical",
        "scraped",
        "There have been no metrics from the model's endpoint picker for ten minutes (this alert's five, after "
        "PromQL's "
        "five). Either the picker is down and requests fail, or the collectors cannot reach it and other alerts of the "
        "model cannot fire.",
        (
            "Does the model answer? `llmd-gke smoke --stack STACK`.",
            "`kubectl get pods -l app.kubernetes.io/component=llminferenceservice-router-scheduler` in its namespace.",
            "If the picker runs: docs/monitoring.md shows how to find out why a scrape failed.",
        ),
        "https://github.com/llm-d/llm-d/blob/098dea78/docs/operations/observability/alerting.md",
        model.name,
    )


def _of_picker(settings: StackSettings, model: ModelSettings, window: str, function: str) -> str:
    codes = promql.one_of("error_code", PICKER_FAULTS)
    return f"(sum({function}({Picker.ERRORS}{_selector(settings, model, codes)}[{window}])) or vector(0))"


def _bad(settings: StackSettings, model: ModelSettings, window: str, function: str = "rate") -> str:
    """Requests that failed because of servers or picker: per second, or with ``increase`` their number."""
    failed = _selector(settings, model, 'status="5xx"')
    of_servers = f"(sum({function}({Server.HTTP_REQUESTS}{failed}[{window}])) or vector(0))"
    return f"({of_servers} + {_of_picker(settings, model, window, function)})"


def _all(settings: StackSettings, model: ModelSettings, window: str) -> str:
    """Requests per second without those that failed because of the client."""
    counted = _selector(settings, model, 'status!="4xx"')
    # For a server that does not count requests by status (the simulator): requests that the endpoint picker sent to it.
    of_servers = (
        f"(sum(rate({Server.HTTP_REQUESTS}{counted}[{window}]))"
        f" or sum(rate({Picker.REQUESTS}{_selector(settings, model)}[{window}])) or vector(0))"
    )
    return f"({of_servers} + {_of_picker(settings, model, window, 'rate')})"


def _burn(settings: StackSettings, model: ModelSettings, burn: Burn) -> Alert:
    limit = f"{burn.rate * (100 - model.objectives.availability) / 100:.6g}"
    ratios = [
        f"{_bad(settings, model, window)} / {_all(settings, model, window)}" for window in (burn.short, burn.long)
    ]
    enough = f"{_bad(settings, model, burn.long, 'increase')} >= {FEWEST_ERRORS}"
    return Alert(
        burn.name,
        " and ".join([*(f"{ratio} > {limit}" for ratio in ratios), enough]) + promql.unless_at_zero(settings, model),
        burn.minutes * MINUTE,
        burn.severity,
        "scraped",
        f"Servers or the endpoint picker fail requests of the model {burn.rate:g} times as fast as its objective "
        f"`availability` allows: {burn.budget}. Status 4xx does not count. Errors after the first token of a stream "
        "do not count either, because their status is 200.",
        (
            "What changed? `pulumi stack history`; undo it by `pulumi up` of the commit before.",
            "The dashboard shows errors by code: ServiceUnavailable means no ready replica; others are in the servers' "
            "logs.",
            "The objective is wrong: `objectives.availability` of the model.",
        ),
        WORKBOOK,
        model.name,
    )


def _latency(settings: StackSettings, model: ModelSettings) -> tuple[Alert, ...]:
    objectives, ours = model.objectives, _selector(settings, model)

    def quantile(histogram: str) -> str:
        return promql.quantile(PERCENTILE, histogram, ours, "namespace, model", "10m")

    return (
        Alert(
            "FirstTokenSlow",
            f"{quantile(Server.FIRST_TOKEN_SECONDS)} > {objectives.first_token_seconds:g}",
            10 * MINUTE,
            "warning",
            "scraped",
            "One request in twenty waits longer for its first token than the objective `firstTokenSeconds` allows: "
            "requests queue, or prompts are longer than usual.",
            (
                "If ModelQueueing also fires: raise `replicas`.",
                "If it does not: prompts have grown. `maxNumBatchedTokens` sets how many tokens are prefilled at a "
                "time.",
                "The objective is wrong for this model: `objectives.firstTokenSeconds`.",
            ),
            VLLM,
            model.name,
        ),
        Alert(
            "TokensSlow",
            f"{quantile(Server.INTER_TOKEN_SECONDS)} > {objectives.inter_token_milliseconds / 1000:g}",
            10 * MINUTE,
            "warning",
            "scraped",
            "For one token in twenty, the time since the previous token exceeds the objective "
            "`interTokenMilliseconds`: the server works on too many requests at a time, or prefills interrupt it.",
            (
                "Lower `maxNumSeqs` or `maxNumBatchedTokens`, or raise `replicas`.",
                "The objective is wrong for this model: `objectives.interTokenMilliseconds`.",
            ),
            VLLM,
            model.name,
        ),
    )
