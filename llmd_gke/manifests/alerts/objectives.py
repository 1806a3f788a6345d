"""Alerts on the objectives of models: one for all models that have the default objectives, and one for each model that
has others.

Cloud Monitoring charges for each condition, and each is a resource of the stack. PromQL answers for each model of its
selector, so that models with the same thresholds share a condition.

The error budget is ``1 - availability``. An alert fires while it is consumed many times too fast in two windows: the
long window suppresses alerts on short disturbances, the short one ends the alert soon after the disturbance
(https://sre.google/workbook/alerting-on-slos/, "Multiwindow, Multi-Burn-Rate Alerts").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llmd_gke.catalog.metrics import NO_REPLICA, Picker, Server
from llmd_gke.manifests import promql
from llmd_gke.manifests.alerts.alert import Alert, Severity
from llmd_gke.manifests.alerts.replicas import MINUTE, VLLM
from llmd_gke.settings import ModelSettings, StackSettings
from llmd_gke.settings.sections.objectives import ObjectivesSettings

WORKBOOK = "https://sre.google/workbook/alerting-on-slos/"

PICKER_FAULTS = ("Internal", NO_REPLICA)
"""Values of ``error_code`` that are the endpoint picker's fault. The others are those of clients (``BadRequest``,
``Unauthorized``, ``Forbidden``, ``NotFound``), requests that it sheds deliberately (``ResourceExhausted``), and
servers' errors (``ModelServerError``), which include their status 4xx and are counted at the servers. The picker of the
inference extension 1.5.0 never counts errors of servers (``pkg/epp/handlers/server.go``)."""

FEWEST_ERRORS = 5
"""Minimum number of errors in the long window: with little traffic one failed request would be a large share."""

PERCENTILE = 0.95


@dataclass(frozen=True, kw_only=True)
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
    Burn(
        name="ModelErrorRatioFast",
        rate=14.4,
        long="1h",
        short="5m",
        minutes=2,
        severity="critical",
        budget="2 % of a month's budget within one hour",
    ),
    Burn(
        name="ModelErrorRatioSlow",
        rate=6,
        long="6h",
        short="30m",
        minutes=15,
        severity="warning",
        budget="5 % of a month's budget within six hours",
    ),
)
"""The workbook's first two burn rates. The third, over three days, is for tickets and not for alerts."""


@dataclass(frozen=True)
class SameObjectives:
    """Models with the same objectives. ``name``: the only one's, ``None`` for all models with the default objectives;
    ``own``: the names of those that these leave out.
    """

    models: Sequence[ModelSettings]
    name: str | None = None
    own: Sequence[str] = ()

    @property
    def objectives(self) -> ObjectivesSettings:
        """The objectives of each of the models."""
        return self.models[0].objectives

    def select(self, settings: StackSettings, *more: str) -> str:
        """The selector of the models' series."""
        others = [promql.none_of("model", self.own)] if self.own else []
        of_one = [] if self.name is None else [promql.one_of("model", [self.name])]
        return promql.pods_in(settings, [model.namespace for model in self.models], *others, *of_one, *more)


def alerts(settings: StackSettings, running: Sequence[ModelSettings]) -> tuple[Alert, ...]:
    """The alerts on endpoint pickers, errors and latency. ``running``: the models that are not stopped."""
    groups = _groups(running)
    return (
        *(_picker(settings, model) for model in running),
        *(_burn(settings, group, burn) for group in groups for burn in BURNS),
        *(alert for group in groups for alert in _latency(settings, group)),
    )


def _groups(running: Sequence[ModelSettings]) -> list[SameObjectives]:
    default = ObjectivesSettings()
    same = [model for model in running if model.objectives == default]
    own = [model for model in running if model.objectives != default]
    shared = [SameObjectives(same, own=[model.name for model in own])] if same else []
    return [*shared, *(SameObjectives([model], model.name) for model in own)]


def _picker(settings: StackSettings, model: ModelSettings) -> Alert:
    ours = SameObjectives([model], model.name).select(settings)
    return Alert(
        name="PickerMetricsAbsent",
        expression=f"absent({Picker.READY}{ours}) and on () max_over_time({Picker.READY}{ours}[1d])",
        seconds=5 * MINUTE,
        severity="critical",
        origin="scraped",
        means="There have been no metrics from the model's endpoint picker for ten minutes (this alert's five, after "
        "PromQL's five), and there were some within the last day. Either the picker is down and requests fail, or the "
        "collectors cannot reach it and other alerts of the model cannot fire.",
        do=(
            "Does the model answer? `llmd-gke smoke --stack STACK`.",
            "`kubectl get pods -l app.kubernetes.io/component=llminferenceservice-router-scheduler` in its namespace.",
            "If the picker runs: docs/monitoring.md shows how to find out why a scrape failed.",
        ),
        source="https://github.com/llm-d/llm-d/blob/098dea78/docs/operations/observability/alerting.md",
        model=model.name,
    )


def _failed(settings: StackSettings, group: SameObjectives, window: str, function: str = "rate") -> str:
    """Requests that failed because of servers or picker, by model: per second, or with ``increase`` their number."""
    failed = group.select(settings, 'status="5xx"')
    of_servers = f"sum by (namespace, model, status) ({function}({Server.HTTP_REQUESTS}{failed}[{window}]))"
    return f"sum {promql.BY_MODEL} ({of_servers} or {_of_picker(settings, group, window, function)})"


def _all(settings: StackSettings, group: SameObjectives, window: str) -> str:
    """Requests per second by model, without those that failed because of the client."""
    counted = group.select(settings, 'status!="4xx"')
    # For a server that does not count requests by status (the simulator): requests that the endpoint picker sent to it.
    of_servers = (
        f"sum {promql.BY_MODEL} (rate({Server.HTTP_REQUESTS}{counted}[{window}]))"
        f" or sum {promql.BY_MODEL} (rate({Picker.REQUESTS}{group.select(settings)}[{window}]))"
    )
    return f"sum {promql.BY_MODEL} ({of_servers} or {_of_picker(settings, group, window, 'rate')})"


def _of_picker(settings: StackSettings, group: SameObjectives, window: str, function: str) -> str:
    # Its labels differ from those of the servers' series, so that `or` keeps both for the sum around it.
    codes = group.select(settings, promql.one_of("error_code", PICKER_FAULTS))
    return f"sum by (namespace, model, error_code) ({function}({Picker.ERRORS}{codes}[{window}]))"


def _burn(settings: StackSettings, group: SameObjectives, burn: Burn) -> Alert:
    limit = f"{burn.rate * (100 - group.objectives.availability) / 100:.6g}"
    ratios = [
        f"{_failed(settings, group, window)} / {_all(settings, group, window)}" for window in (burn.short, burn.long)
    ]
    enough = f"{_failed(settings, group, burn.long, 'increase')} >= {FEWEST_ERRORS}"
    asleep = promql.unless_asleep(settings) if any(model.scales_to_zero for model in group.models) else ""
    return Alert(
        name=burn.name,
        expression=" and ".join([*(f"{ratio} > {limit}" for ratio in ratios), enough]) + asleep,
        seconds=burn.minutes * MINUTE,
        severity=burn.severity,
        origin="scraped",
        means=f"Servers or the endpoint picker fail requests of a model {burn.rate:g} times as fast as its objective "
        f"`availability` allows: {burn.budget}. Status 4xx does not count. Errors after the first token of a stream "
        "do not count either, because their status is 200.",
        do=(
            "What changed? `pulumi stack history`; undo it by `pulumi up` of the commit before.",
            "The dashboard shows errors by code: ServiceUnavailable means no ready replica; others are in the servers' "
            "logs.",
            "The objective is wrong: `objectives.availability` of the model.",
        ),
        source=WORKBOOK,
        model=group.name,
    )


def _latency(settings: StackSettings, group: SameObjectives) -> tuple[Alert, ...]:
    objectives, ours = group.objectives, group.select(settings)

    def quantile(histogram: str) -> str:
        return promql.quantile(PERCENTILE, histogram, ours, "namespace, model", "10m")

    return (
        Alert(
            name="FirstTokenSlow",
            expression=f"{quantile(Server.FIRST_TOKEN_SECONDS)} > {objectives.first_token_seconds:g}",
            seconds=10 * MINUTE,
            severity="warning",
            origin="scraped",
            means="One request in twenty waits longer for its first token than the objective `firstTokenSeconds` "
            "allows: requests queue, or prompts are longer than usual.",
            do=(
                "If ModelQueueing also fires: raise `replicas`.",
                "If it does not: prompts have grown. `maxNumBatchedTokens` sets how many tokens are prefilled at a "
                "time.",
                "The objective is wrong for this model: `objectives.firstTokenSeconds`.",
            ),
            source=VLLM,
            model=group.name,
        ),
        Alert(
            name="TokensSlow",
            expression=f"{quantile(Server.INTER_TOKEN_SECONDS)} > {objectives.inter_token_milliseconds / 1000:g}",
            seconds=10 * MINUTE,
            severity="warning",
            origin="scraped",
            means="For one token in twenty, the time since the previous token exceeds the objective "
            "`interTokenMilliseconds`: the server works on too many requests at a time, or prefills interrupt it.",
            do=(
                "Lower `maxNumSeqs` or `maxNumBatchedTokens`, or raise `replicas`.",
                "The objective is wrong for this model: `objectives.interTokenMilliseconds`.",
            ),
            source=VLLM,
            model=group.name,
        ),
    )
