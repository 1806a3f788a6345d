"""Alerts and numbers on the screen, from a stand-in for Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from llmd_gke.manifests.alerts import Alert
from llmd_gke.manifests.alerts import alerts as all_alerts
from llmd_gke.manifests.dashboard import panels
from llmd_gke.settings import StackSettings, load_stack
from operations.doctor.google import ENDPOINT
from operations.options import Cloud
from operations.prometheus.client import Prometheus, connected
from operations.status import alerts
from operations.status.objects import Line, State
from operations.target import Target
from tests.fakes.prometheus import StandIn, Values, serving

ROOT = Path(__file__).parents[3]
NOW = 1_000_000.0


@pytest.fixture
def settings() -> StackSettings:
    return load_stack(ROOT, "eu4a").settings


@pytest.fixture
def waiting(settings: StackSettings) -> Alert:
    return next(one for one in all_alerts(settings) if one.severity == "critical" and one.seconds >= 120)


def shown(
    stand_in: StandIn,
    settings: StackSettings,
    lines: Callable[[Prometheus, StackSettings, float], Awaitable[list[Line]]] = alerts.lines,
) -> list[Line]:
    async def asking(url: str) -> list[Line]:
        async with connected(f"{url}/api/v1/") as prometheus:
            return await lines(prometheus, settings, NOW)

    with serving(stand_in) as url:
        return asyncio.run(asking(url))


def since(moment: float, value: float = 0.25) -> Values:
    return lambda at: value if at >= moment else None


def test_quiet_alerts_are_one_good_line(settings: StackSettings) -> None:
    stand_in = StandIn()
    (line,) = shown(stand_in, settings)
    assert line.state is State.GOOD
    assert f"{len(all_alerts(settings))} conditions of {len(all_alerts(settings))} do not hold" in line.text
    assert {form["query"] for _, form, _ in stand_in.asked} == {one.expression for one in all_alerts(settings)}


def test_an_alert_fires_once_its_condition_has_held_as_long_as_it_waits(
    settings: StackSettings, waiting: Alert
) -> None:
    stand_in = StandIn({waiting.expression: [({"namespace": "models", "pod": "qwen-1"}, since(0))]})
    first, rest = shown(stand_in, settings)
    assert (first.subject, first.state, first.fix) == (waiting.title, State.BAD, waiting.runbook)
    assert first.text.startswith("critical: 0.25 (pod qwen-1). ")
    assert waiting.means in first.text
    assert rest.state is State.GOOD


@pytest.mark.parametrize(
    "values",
    [lambda at: 0.25 if at >= NOW - 60 else None, lambda at: None if NOW - 90 < at < NOW - 30 else 0.25],
    ids=["new", "after a gap"],
)
def test_a_condition_that_has_not_held_long_enough_does_not_fire_yet(
    settings: StackSettings, waiting: Alert, values: Values
) -> None:
    first, _ = shown(StandIn({waiting.expression: [({}, values)]}), settings)
    assert first.state is State.BUSY
    assert "unless it ends: 0.25" in first.text


def test_money_is_not_called_bad_and_comes_last(settings: StackSettings) -> None:
    held = all_alerts(settings)
    info = next(one for one in held if one.severity == "info")
    critical = next(one for one in held if one.severity == "critical")
    series = [({}, since(0))]
    first, second, _ = shown(StandIn({info.expression: series, critical.expression: series}), settings)
    assert [(one.subject, one.state) for one in (first, second)] == [
        (critical.title, State.BAD),
        (info.title, State.UNKNOWN),
    ]


def test_the_numbers_of_a_model_are_those_of_the_dashboard(settings: StackSettings) -> None:
    by_key = {panel.key: panel for panel in panels(settings)}
    labels = {"namespace": "models", "model": "qwen"}

    def constant(value: float) -> Callable[[float], float | None]:
        return lambda at: value

    stand_in = StandIn(
        {
            by_key["requests"].queries[0].promql: [(labels, constant(12.34)), ({**labels, "model": "b"}, constant(9))],
            by_key["requests-in-servers"].queries[1].promql: [({**labels, "pod": "1"}, constant(2))] * 2,
            by_key["first-token"].queries[1].promql: [(labels, constant(0.512))],
            by_key["kv-cache"].queries[0].promql: [({**labels, "pod": str(n)}, constant(n / 10)) for n in (3, 7)],
            by_key["tokens"].queries[1].promql: [(labels, constant(float("nan")))],
        }
    )
    (line,) = shown(stand_in, settings, alerts.numbers)
    assert line.text == "12.3 requests/s, 4 waiting, first token in 0.51 s (p95), KV cache 70% full"


def test_a_model_that_nobody_has_asked_for_hours_is_named_with_the_command_that_releases_its_hosts(
    settings: StackSettings,
) -> None:
    asked = alerts.without_requests(settings)
    ours = {"namespace": "models", "model": "qwen"}
    (idle,) = shown(StandIn(series={asked: [(ours, lambda _: 0.0)]}), settings, alerts.numbers)
    other = {**ours, "model": "other"}
    (busy,) = shown(StandIn(series={asked: [(other, lambda _: 0.0)]}), settings, alerts.numbers)
    assert idle.text == "no request for 6 h: `llmd-gke stop` releases its hosts"
    assert "llmd-gke stop" not in busy.text
    assert 'cluster="llmd-eu4a"' in asked


def seen(target: Target) -> dict[str, list[Line]]:
    return asyncio.run(alerts.sections(target, target.settings))


def test_a_caller_without_rights_is_told_which_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(StandIn(status=403, body='{"error": {"message": "Permission denied."}}')) as url:
        monkeypatch.setenv(ENDPOINT, url)
        (line,) = seen(Target("eu4a", Cloud.GOOGLE, ROOT))["Alerts"]
    assert line.state is State.UNKNOWN
    assert (
        line.text == "cannot be queried: Permission denied.; needs monitoring.timeSeries.list (roles/monitoring.viewer)"
    )


def test_alerts_and_numbers_are_asked_of_google_with_the_callers_token(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn()
    with serving(stand_in) as url:
        monkeypatch.setenv(ENDPOINT, url)
        sections = seen(Target("eu4a", Cloud.GOOGLE, ROOT))
    assert [line.state for line in sections["Alerts"]] == [State.GOOD]
    assert [(line.subject, line.text) for line in sections["Numbers"]] == [("qwen", "no metrics yet")]
    assert {header for _, _, header in stand_in.asked} == {"Bearer emulator"}


def test_a_laptop_cloud_without_prometheus_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(StandIn()) as url:
        pass  # the port is free again
    monkeypatch.setattr("operations.prometheus.access.prometheus.URL", url)
    (line,) = seen(Target("local", Cloud.LAPTOP, ROOT))["Alerts"]
    assert line.state is State.UNKNOWN
    assert "LLMD_GKE_PROMETHEUS=1" in line.fix


def test_a_laptop_cloud_is_not_asked_for_what_only_google_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn()
    target = Target("local", Cloud.LAPTOP, ROOT)
    with serving(stand_in) as url:
        monkeypatch.setattr("operations.prometheus.access.prometheus.URL", url)
        (line,) = seen(target)["Alerts"]
    google = {one.expression for one in all_alerts(target.settings) if one.origin == "google"}
    left_out = google - {form["query"] for _, form, _ in stand_in.asked}
    assert len(left_out) > 3
    assert f"; {len(left_out)} more need metrics that only Google Cloud has" in line.text


def test_the_rehearsal_has_neither() -> None:
    assert seen(Target("local", Cloud.REHEARSAL, ROOT)) == {}
