"""The price of monitoring a stack: samples, alerts, uptime checks, spans of traces, and the servers' logs.

An estimate from numbers of time series, some of which are assumptions (see ``llmd_gke/catalog/monitoring.py``). GKE's
own metrics of containers and kubelets are excluded: it depends on the system pods of each node.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmd_gke.catalog import monitoring as catalogue
from llmd_gke.catalog.overhead import HOURS_PER_MONTH
from llmd_gke.manifests.alerts import alerts
from llmd_gke.manifests.alerts.policy import EVALUATION_SECONDS
from llmd_gke.manifests.monitoring import uptime
from llmd_gke.rules import vllm_arguments
from llmd_gke.settings import StackSettings

SECONDS_PER_MONTH = HOURS_PER_MONTH * 3600
MILLION = 1_000_000


@dataclass(frozen=True)
class MonitoringPrice:
    """Monthly amounts with all replicas running. ``usd_per_million_spans``: ``None`` without Cloud Trace."""

    samples: int
    conditions: int
    metric_references: int
    returned_points: int
    uptime_executions: int
    usd_per_million_spans: float | None

    @property
    def usd_per_month(self) -> float:
        """List price. Assumes that no other stack uses the project's free uptime checks."""
        uptime = max(0, self.uptime_executions - catalogue.FREE_UPTIME_CHECKS)
        return (
            self.samples / MILLION * catalogue.USD_PER_MILLION_SAMPLES
            + uptime / 1000 * catalogue.USD_PER_THOUSAND_UPTIME_CHECKS
        )

    @property
    def alerts_usd_per_month(self) -> float:
        """List price of alerts, once Google bills them (``ALERTS_BILLED_FROM``)."""
        points = self.returned_points / MILLION * catalogue.USD_PER_MILLION_POINTS
        return self.metric_references * catalogue.USD_PER_METRIC_REFERENCE + points

    def __str__(self) -> str:
        """Amounts and prices in sentences, as ``llmd-gke cost`` shows them."""
        items = [f"{self.samples / MILLION:,.0f} million samples", f"{self.conditions} alert conditions"]
        if self.uptime_executions:
            items.append(f"{self.uptime_executions / MILLION:.1f} million uptime checks")
        spans = ""
        if self.usd_per_million_spans is not None:
            free = catalogue.FREE_SPANS / MILLION
            spans = (
                f" Traces: {self.usd_per_million_spans:.2f} USD per million spans; the first {free:g} million are free."
            )
        amount = f"about {self.usd_per_month:,.2f} USD a month ({', '.join(items)})"
        later = (
            f" Alerts are free; from {catalogue.ALERTS_BILLED_FROM} about {self.alerts_usd_per_month:,.2f} USD more."
        )
        return f"Monitoring, all replicas running: {amount}.{later if self.conditions else ''}{spans}"


@dataclass(frozen=True)
class LogPrice:
    """The log of one replica of a model that serves all month, without the lines of its requests."""

    model: str
    logs_metric_reads: bool

    @property
    def gib_per_month(self) -> float:
        """Entries of throughput, and those of the picker's reads where the server logs them."""
        reads = catalogue.METRIC_READS_PER_SECOND if self.logs_metric_reads else 0
        return _gib(SECONDS_PER_MONTH * (1 / catalogue.STATISTICS_SECONDS + reads))

    def __str__(self) -> str:
        """The price in a sentence, as ``llmd-gke cost`` shows it."""
        argument = " ".join(vllm_arguments.UNLOGGED)
        reads = (
            f" The picker's reads of its metrics are nearly all of it: `extraArgs` with `{argument}` leaves them out,"
            " if the server knows the argument."
            if self.logs_metric_reads
            else ""
        )
        gib, million = self.gib_per_month, _gib(MILLION)
        price = catalogue.USD_PER_GIB_OF_LOGS
        return (
            f"Log of a replica of {self.model}, estimated: {gib:,.1f} GiB a month ({gib * price:,.2f} USD), and"
            f" {million:,.1f} GiB ({million * price:,.2f} USD) for a million requests; the first"
            f" {catalogue.FREE_GIB_OF_LOGS} GiB of a project are free.{reads}"
        )


def logs(settings: StackSettings) -> tuple[LogPrice, ...]:
    """The price of the logs of the servers of each model."""
    return tuple(
        LogPrice(model.name, vllm_arguments.logs_metric_reads(model.image, model.extra_args))
        for model in settings.models
    )


def _gib(entries: float) -> float:
    return entries * catalogue.BYTES_OF_A_LOG_ENTRY / 2**30


def estimate(settings: StackSettings) -> MonitoringPrice:
    """The price of monitoring with the stack's settings."""
    stack_alerts = alerts(settings)
    references = sum(alert.expression.count("{") for alert in stack_alerts)
    evaluations = SECONDS_PER_MONTH // EVALUATION_SECONDS
    return MonitoringPrice(
        samples=_samples(settings),
        conditions=len(stack_alerts),
        # The points of each selector count, regardless of later comparisons.
        metric_references=references,
        returned_points=evaluations * references,
        uptime_executions=len(uptime.checks(settings))
        * catalogue.UPTIME_CHECKERS
        * SECONDS_PER_MONTH
        // catalogue.UPTIME_PERIOD_SECONDS,
        usd_per_million_spans=catalogue.USD_PER_MILLION_SPANS if settings.monitoring.cloud_trace else None,
    )


def _samples(settings: StackSettings) -> int:
    scraped = states = 0
    for model in settings.models:
        replicas = model.most_replicas
        if not replicas:
            continue
        scraped += replicas * catalogue.SERIES_OF_A_SERVER + catalogue.SERIES_OF_A_PICKER
        pods = replicas * settings.pool(model.pool).slice.hosts + 1
        states += pods * catalogue.STATES_OF_A_POD + 2 * catalogue.STATES_OF_A_DEPLOYMENT
    ours = scraped * SECONDS_PER_MONTH // settings.monitoring.interval_seconds if settings.monitoring.scrape else 0
    return ours + states * SECONDS_PER_MONTH // catalogue.STATES_SECONDS
