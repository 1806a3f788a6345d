"""Every alert is fired by its fault and by no other; expressions have series. Nothing fires while all is well.

Each wait and range of an alert, and each interval of collection, is divided by ``FASTER``; promtool tests the real ones
(``tests/llmd_gke/manifests/alerts``). What only Google measures is not here, but for restarts of containers.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.catalog.metrics import Google, KubeState, Picker, Server
from llmd_gke.manifests.alerts.alert import Alert
from llmd_gke.manifests.alerts.table import alerts
from llmd_gke.manifests.dashboard.panels import panels
from llmd_gke.settings import StackSettings
from llmd_gke.settings.load import load_stack
from llmd_gke.settings.validation.cluster import CLOUD_VARIABLE
from localcloud.tests.real_kubernetes import faults, models, objects, steady_load
from localcloud.tests.real_kubernetes.commands import called
from localcloud.tests.real_kubernetes.faults import PICKER, SERVER
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.models import endpoint, ready_servers
from localcloud.tests.real_kubernetes.prometheus import FASTER, Prometheus

REPLICAS = 3
SHORTEST_SECONDS = 5
"""Of a range: five samples."""
HEALTHY_SECONDS = 300
LONGEST_SECONDS = 150
"""How long a fault may need to be seen: the longest wait is a minute."""

NOT_SIMULATED = (Server.PREEMPTIONS, Server.HTTP_REQUESTS, KubeState.RESTARTS)
"""Metrics that the simulator, or GKE's package of kube state metrics, does not have."""
ONLY_WITH_A_FAULT = (KubeState.UNSCHEDULABLE, KubeState.WAITING_REASON, Picker.ERRORS)
"""Metrics without a series while all is well."""
WITHOUT_A_LINE = {
    "errors": "there are none",
    "start-stages": "some stages have no pod in them",
    "prefix-hits": "the simulator counts them only with a KV cache of its own",
    "preemptions": "the simulator has none",
}
"""Panels that have a query without a series while all is well."""
SELECTOR = re.compile(r"([a-zA-Z_][\w:]*)\{[^}]*\}")


@pytest.fixture(scope="module")
def settings(watched: Laptop) -> StackSettings:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLOUD_VARIABLE, "laptop")  # the stack is refused elsewhere
        return load_stack(watched.root, "local").settings


@pytest.fixture(scope="module")
def table(settings: StackSettings) -> list[Alert]:
    """The alerts that can be measured here, their times divided."""
    return [
        alert.faster(FASTER, SHORTEST_SECONDS)
        for alert in alerts(settings)
        if alert.origin != "google" or Google.RESTARTS in alert.expression
    ]


@pytest.fixture(scope="module")
def prometheus(watched: Laptop, table: list[Alert]) -> Prometheus:
    """With the rules of the stack."""
    made = Prometheus(watched)
    made.load_rules(*(_rule(alert) for alert in table))
    until(lambda: made.samples("inference_pool_ready_pods")[0], "the picker's metrics", 60)
    return made


def _rule(alert: Alert) -> dict[str, Any]:
    return {"alert": alert.name, "expr": alert.expression, "for": f"{alert.seconds}s", "labels": alert.labels}


@pytest.fixture
def well(watched: Laptop, prometheus: Prometheus) -> Iterator[float]:
    """All replicas are ready and nothing fires, before and after; the time from which on alerts are the test's."""
    ready_servers(watched, REPLICAS)
    until(lambda: not prometheus.firing() or None, "the end of all alerts", LONGEST_SECONDS)
    yield time.time()
    ready_servers(watched, REPLICAS)
    until(lambda: not prometheus.firing() or None, "the end of all alerts", LONGEST_SECONDS)


def fired(prometheus: Prometheus, since: float) -> set[str]:
    """What has fired since then."""
    seconds = max(1, round(time.time() - since))
    expression = f'count by (alertname) (count_over_time(ALERTS{{alertstate="firing"}}[{seconds}s]))'
    return {name for (name,) in prometheus.labels(expression, "alertname")}


def awaited(prometheus: Prometheus, *names: str) -> None:
    """Waits until those fire."""
    until(lambda: set(names) <= prometheus.firing() or None, f"the alert {' and '.join(names)}", LONGEST_SECONDS)


def present(expression: str) -> list[str]:
    """The selectors in an expression whose metrics are there while all is well."""
    absent = {*NOT_SIMULATED, *ONLY_WITH_A_FAULT, *set(Google) - {Google.RESTARTS}}
    return [match[0] for match in SELECTOR.finditer(expression) if match[1].removesuffix("_bucket") not in absent]


def tpu_hosts(laptop: Laptop) -> list[objects.Object]:
    return [node for node in objects.every(laptop, "nodes") if "google.com/tpu" in node["status"]["capacity"]]


def status_lines(laptop: Laptop, folder: Path) -> list[dict[str, Any]]:
    """What `llmd-gke status` shows now, in one list."""
    printed = called(laptop, folder, "status", "--output", "json").stdout
    return [line for section in json.loads(printed)["sections"] for line in section["lines"]]


def names(pods: list[objects.Object]) -> list[str]:
    return [objects.name(pod) for pod in pods]


def test_every_metric_of_an_alert_has_a_series_and_every_expression_is_evaluated(
    watched: Laptop, prometheus: Prometheus, table: list[Alert], tmp_path: Path
) -> None:
    assert len(table) >= 10
    with steady_load.steady(watched, tmp_path / "load.jsonl", *endpoint(watched)) as load:
        load.await_more(20)
        prometheus.samples(*(alert.expression for alert in table))
        wanted = sorted({selector for alert in table for selector in present(alert.expression)})
        assert len(wanted) >= 8
        values = dict(zip(wanted, prometheus.samples(*wanted), strict=True))
    assert [selector for selector, samples in values.items() if not samples] == []


def test_every_panel_whose_metrics_are_here_has_a_line(
    watched: Laptop, prometheus: Prometheus, settings: StackSettings, tmp_path: Path
) -> None:
    here = [panel for panel in panels(settings) if not panel.google_only]
    queries = [(panel.key, query.promql) for panel in here for query in panel.queries]
    assert len(here) >= 10
    with steady_load.steady(watched, tmp_path / "load.jsonl", *endpoint(watched)) as load:
        load.await_more(50)
        values = prometheus.samples(*(promql for _, promql in queries))
    empty = {key for (key, _), samples in zip(queries, values, strict=True) if not samples}
    assert empty - WITHOUT_A_LINE.keys() == set()


def test_all_replicas_gone_fire_no_ready_replica_and_what_clients_see_the_error_ratio(
    watched: Laptop, prometheus: Prometheus, well: float, tmp_path: Path
) -> None:
    with steady_load.steady(watched, tmp_path / "load.jsonl", *endpoint(watched)) as load:
        load.await_more(10)
        watched.kubectl("delete", "pods", "-n", objects.MODELS, "--wait=false", *names(models.servers(watched)))
        awaited(prometheus, "ModelHasNoReadyReplica", "ModelErrorRatioFast")
    # The slow ratio is the same fault's, and its window is longer than the fault.
    assert fired(prometheus, well) <= {"ModelHasNoReadyReplica", "ModelErrorRatioFast", "ModelErrorRatioSlow"}


def test_a_replica_that_hangs_is_lost(watched: Laptop, prometheus: Prometheus, well: float) -> None:
    first, *_ = names(models.servers(watched))
    with faults.hanging(watched, SERVER, [first]):
        awaited(prometheus, "ModelLostReplicas")
    assert fired(prometheus, well) == {"ModelLostReplicas"}


def test_a_picker_that_does_not_answer_is_missed(watched: Laptop, prometheus: Prometheus, well: float) -> None:
    pods = names(objects.pods_of(watched, "qwen-kserve-router-scheduler"))
    with faults.hanging(watched, PICKER, pods):
        awaited(prometheus, "PickerMetricsAbsent")
    assert fired(prometheus, well) == {"PickerMetricsAbsent"}


SLOW: dict[str, tuple[dict[str, str], int, int]] = {
    # One request at a time, a tenth of a second each: of 20 clients a server the last waits two seconds.
    "ModelQueueing": ({"inter_token_latency": "10ms"}, 60, 5),
    "FirstTokenSlow": ({"time_to_first_token": "6s"}, 1, 2),
    "TokensSlow": ({"inter_token_latency": "300ms"}, 1, 10),
}
"""Alerts, with the servers' times, the requests at once and the tokens of each that fire them."""


@pytest.mark.parametrize("alert", SLOW)
def test_a_queue_and_slow_tokens_are_noticed(watched: Laptop, prometheus: Prometheus, well: float, alert: str) -> None:
    times, at_once, tokens = SLOW[alert]
    servers = models.servers(watched)
    faults.configure(watched, servers, **times)
    try:
        with faults.load(watched, *endpoint(watched), at_once=at_once, tokens=tokens):
            awaited(prometheus, alert)
    finally:
        faults.configure(watched, servers, **dict.fromkeys(times, "0ms"))
    assert fired(prometheus, well) == {alert}


def test_a_replica_for_which_google_has_no_host_is_unschedulable_and_status_names_the_cause(
    watched: Laptop, prometheus: Prometheus, well: float, tmp_path: Path
) -> None:
    until(lambda: len(tpu_hosts(watched)) == REPLICAS or None, "no idle TPU host", LONGEST_SECONDS)
    watched.emulator_faults({"fault": "stockout", "zone": "*"})
    try:
        with models.replicas(watched, REPLICAS + 1, after=REPLICAS):
            awaited(prometheus, "ModelPodUnschedulable")
            shown = status_lines(watched, tmp_path)
    finally:
        watched.emulator_faults()
    assert fired(prometheus, well) <= {"ModelPodUnschedulable", "ModelLostReplicas"}
    assert any("the zone has no free TPU of this type right now" in line["text"] for line in shown), shown


def test_a_container_that_ends_again_and_again_is_restarting_and_status_says_so(
    watched: Laptop, prometheus: Prometheus, well: float, tmp_path: Path
) -> None:
    first, *_ = names(models.servers(watched))
    for _ in range(3):
        faults.kill(watched, SERVER, first)
    awaited(prometheus, "ServerRestarting")
    shown = [line for line in status_lines(watched, tmp_path) if line["text"].startswith("warning: ")]
    assert [(line["state"], line["fix"].partition("#")[2]) for line in shown] == [("bad", "serverrestarting")], shown
    assert fired(prometheus, well) <= {"ServerRestarting", "ModelLostReplicas"}


def test_a_full_kv_cache_is_noticed(watched: Laptop, prometheus: Prometheus, well: float) -> None:
    first, *_ = models.servers(watched)
    made_up = json.dumps({"running-requests": 1, "waiting-requests": 0, "kv-cache-usage": 0.97})
    with faults.another_server(watched, first, f"--fake-metrics '{made_up}'"):
        awaited(prometheus, "KvCacheFull")
    assert fired(prometheus, well) == {"KvCacheFull"}


def test_five_healthy_minutes_at_a_steady_load_fire_no_alert(
    watched: Laptop, prometheus: Prometheus, well: float, tmp_path: Path
) -> None:
    with steady_load.steady(watched, tmp_path / "load.jsonl", *endpoint(watched)) as load:
        while time.time() - well < HEALTHY_SECONDS:
            load.await_more(int(10 / steady_load.PAUSE_SECONDS))
        assert fired(prometheus, well) == set()
        assert load.between(well, time.time()).failed == ()
