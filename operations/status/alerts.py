"""The firing alerts, and the current numbers of each model.

The conditions are evaluated as they are written (:mod:`llmd_gke.manifests.alerts`), so that the answer is the same for
Google's managed Prometheus and for that of the laptop cloud. An alert fires when its condition has held for as long as
the alert waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from llmd_gke.catalog.metrics import Google, Picker
from llmd_gke.manifests import promql
from llmd_gke.manifests.alerts import Alert, Severity, alerts
from llmd_gke.manifests.dashboard import panels
from llmd_gke.settings import ModelSettings, StackSettings
from llmd_gke.wording import counted
from operations.options import Cloud
from operations.prometheus import access
from operations.prometheus.client import NotAllowed, NotAnswered, NotThere, Prometheus, Series, measured
from operations.status.objects import Line, State
from operations.target import Target

STEP_SECONDS = 60
STATES: Mapping[Severity, State] = {"critical": State.BAD, "warning": State.BAD, "info": State.UNKNOWN}
ORDER: tuple[Severity, ...] = ("critical", "warning", "info")
SHOWN_SERIES = 3
IDLE_HOURS = 6
"""Hours without a request after which a model is called idle."""

START = "LLMD_GKE_PROMETHEUS=1 make up CLOUD=laptop (docs/monitoring.md)"


@dataclass(frozen=True)
class Held:
    """A condition that has held for at least ``seconds``. ``fires``: whether that is as long as the alert waits."""

    alert: Alert
    series: Sequence[Series]
    seconds: float
    fires: bool


@dataclass(frozen=True)
class Number:
    """A number of a model: a panel's query, how its series are combined, and the text around the result."""

    panel: str
    query: int
    whole: Callable[[Iterable[float]], float]
    text: str


NUMBERS = (
    Number("requests", 0, sum, "{:.3g} requests/s"),
    Number("errors", 0, sum, "{:.3g} errors/s"),
    Number("tokens", 1, sum, "{:.3g} output tokens/s"),
    Number("requests-in-servers", 1, sum, "{:.0f} waiting"),
    Number("first-token", 1, max, "first token in {:.2g} s (p95)"),
    Number("kv-cache", 0, max, "KV cache {:.0%} full"),
)


async def held(prometheus: Prometheus, alert: Alert, now: float) -> Held | None:
    """How long an alert's condition has held; ``None`` if it does not hold. Raises ``NotAnswered``."""
    if not alert.seconds:
        series = await prometheus.instant(alert.expression, now)
        return Held(alert, series, 0, fires=True) if series else None
    step = min(STEP_SECONDS, alert.seconds)
    series = await prometheus.over(alert.expression, now - alert.seconds, now, step)
    current = {index: _seconds(one, now, step) for index, one in enumerate(series) if now - one.points[-1][0] <= step}
    if not current:
        return None
    longest = max(current.values())
    fires = longest > alert.seconds - step
    chosen = [series[index] for index, seconds in current.items() if seconds > alert.seconds - step or not fires]
    return Held(alert, chosen, longest, fires=fires)


def _seconds(series: Series, now: float, step: float) -> float:
    """Seconds for which a series has had values without a gap."""
    since = now
    for when, _ in reversed(series.points):
        if since - when > 1.5 * step:
            break
        since = when
    return now - since


def of_each(holding: Held) -> list[Line]:
    """The lines for an alert that fires, or that will if its condition continues to hold: one for each model, because
    models with the same objectives share a condition.
    """
    by_model: dict[str | None, list[Series]] = {}
    for one in holding.series:
        by_model.setdefault(holding.alert.model or _about(one), []).append(one)
    return [
        _line(replace(holding, alert=replace(holding.alert, model=model), series=series))
        for model, series in by_model.items()
    ]


def _about(series: Series) -> str | None:
    """The model that a series is about: by its label, or by the name of an object that KServe made for the model."""
    made = (value.partition("-kserve") for value in series.labels.values())
    return series.labels.get("model") or next((name for name, found, _ in made if found), None)


def _line(holding: Held) -> Line:
    alert = holding.alert
    where = "; ".join(_value(one, alert) for one in holding.series[:SHOWN_SERIES])
    more = len(holding.series) - SHOWN_SERIES
    numbers = where + (f"; {more} more" if more > 0 else "")
    if not holding.fires:
        left = max(0, alert.seconds - holding.seconds)
        return Line(alert.title, State.BUSY, f"{alert.severity}, fires in {_minutes(left)} unless it ends: {numbers}")
    return Line(alert.title, STATES[alert.severity], f"{alert.severity}: {numbers}. {alert.means}", alert.runbook)


def _value(series: Series, alert: Alert) -> str:
    labels = {key: value for key, value in series.labels.items() if key not in ("namespace", "__name__")}
    if alert.model is not None:
        labels.pop("model", None)
    named = ", ".join(f"{key} {value}" for key, value in sorted(labels.items()))
    return f"{series.value:.3g}" + (f" ({named})" if named else "")


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


async def lines(prometheus: Prometheus, settings: StackSettings, now: float, cloud: Cloud = Cloud.GOOGLE) -> list[Line]:
    """The alerts of a stack: those whose condition holds, and the number of others. Raises ``NotAnswered``."""
    all_of_them = alerts(settings)
    asked = [alert for alert in all_of_them if cloud is Cloud.GOOGLE or _measured_anywhere(alert)]
    answers = await asyncio.gather(*(held(prometheus, alert, now) for alert in asked))
    shown = sorted(
        (one for one in answers if one is not None), key=lambda one: (not one.fires, ORDER.index(one.alert.severity))
    )
    quiet = len(asked) - len(shown)
    summary = f"{counted(quiet, 'condition')} of {len(asked)} do not hold"
    if (others := len(all_of_them) - len(asked)) > 0:
        summary += f"; {others} more need metrics that only Google Cloud has"
    each = [line for one in shown for line in of_each(one)]
    return [*each, *([Line("alerts", State.GOOD, summary)] if asked else [])]


def _measured_anywhere(alert: Alert) -> bool:
    """Whether the laptop cloud has an alert's metrics: it has restarts of containers under Google's name."""
    return alert.origin != "google" or Google.RESTARTS in alert.expression


async def numbers(prometheus: Prometheus, settings: StackSettings, now: float) -> list[Line]:
    """Lines with the current numbers of each model. Raises ``NotAnswered``."""
    by_key = {panel.key: panel for panel in panels(settings)}
    answers = await asyncio.gather(
        *(prometheus.instant(by_key[one.panel].queries[one.query].promql, now) for one in NUMBERS)
    )
    without = await prometheus.instant(without_requests(settings), now)
    return [
        _numbers(model, answers, idle=any(_of(one, model) for one in measured(without)))
        for model in settings.models
        if not model.stopped
    ]


def without_requests(settings: StackSettings) -> str:
    """The models that have been ready for :data:`IDLE_HOURS` and got no request in that time."""
    ours = promql.pods(settings)
    asked = f"sum {promql.BY_MODEL} (increase({Picker.REQUESTS}{ours}[{IDLE_HOURS}h]))"
    ready = f"max {promql.BY_MODEL} ({Picker.READY}{ours} offset {IDLE_HOURS}h)"
    # A model that was never asked has no counter at all.
    return f"({asked} == 0 or {ready} > 0 unless {asked}) and {ready} > 0"


def _numbers(model: ModelSettings, answers: Sequence[Sequence[Series]], *, idle: bool = False) -> Line:
    texts: list[str] = [f"no request for {IDLE_HOURS} h: `llmd-gke stop` releases its hosts"] if idle else []
    for number, series in zip(NUMBERS, answers, strict=True):
        ours = [one.value for one in measured(series) if _of(one, model)]
        if ours:
            texts.append(number.text.format(number.whole(ours)))
    if not texts:
        return Line(
            model.name, State.UNKNOWN, "no metrics yet", "kubectl -n gmp-public get operatorconfig config -o yaml"
        )
    return Line(model.name, State.GOOD, ", ".join(texts))


def _of(series: Series, model: ModelSettings) -> bool:
    return series.labels.get("model") == model.name and series.labels.get("namespace") == model.namespace


async def sections(target: Target, settings: StackSettings) -> dict[str, list[Line]]:
    """Lines on alerts and numbers, by title of the section; one line with the reason if there is no Prometheus."""
    if target.cloud not in (Cloud.GOOGLE, Cloud.LAPTOP):
        return {}
    now = time.time()
    try:
        async with access.of(target) as prometheus:
            firing = await lines(prometheus, settings, now, target.cloud)
            measured_now = await numbers(prometheus, settings, now) if settings.monitoring.scrape else []
    except NotAnswered as problem:
        return {"Alerts": [_unseen(target, problem)]}
    return {"Alerts": firing, "Numbers": measured_now}


def _unseen(target: Target, problem: NotAnswered) -> Line:
    if isinstance(problem, NotThere) and target.cloud is Cloud.LAPTOP:
        return Line("alerts", State.UNKNOWN, "no Prometheus runs in this laptop cloud", START)
    if isinstance(problem, NotAllowed):
        return Line(
            "alerts", State.UNKNOWN, f"cannot be queried: {problem}; needs {access.NEEDED} (roles/monitoring.viewer)"
        )
    return Line("alerts", State.UNKNOWN, f"cannot be queried: {problem}")
