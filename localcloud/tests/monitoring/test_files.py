"""Prometheus' files: who is scraped, with which token, how often, and who is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from localcloud.monitoring import kube_state
from localcloud.monitoring.files import PrometheusFiles, milliseconds, shortened
from localcloud.monitoring.targets import ScrapeEndpoint, ScrapeTarget, SecretKey
from localcloud.tests.monitoring.cluster import WHERE

TOKEN = SecretKey("models", "reader", "token")
OPEN = ScrapeTarget("10.0.0.1:8000", {"pod": "a", "job": "servers"})
SHUT = ScrapeTarget("10.0.0.2:8000", {"pod": "b"}, "no NetworkPolicy admits gmp-system")
SERVERS = ScrapeEndpoint(
    job="PodMonitoring/models/servers/8000",
    path="/metrics",
    scheme="http",
    interval="30s",
    timeout="30s",
    targets=(OPEN, SHUT),
)
PICKERS = ScrapeEndpoint(
    job="PodMonitoring/models/pickers/9090",
    path="/metrics",
    scheme="http",
    interval="1m",
    timeout="10s",
    targets=(OPEN,),
    token=TOKEN,
)


@pytest.fixture
def files(tmp_path: Path) -> PrometheusFiles:
    made = PrometheusFiles(tmp_path / "monitoring", faster=30)
    made.prepare()
    return made


def configuration(files: PrometheusFiles) -> dict[str, Any]:
    return json.loads(files.configuration.read_text())


def scraped(files: PrometheusFiles, job: int) -> list[str]:
    (path,) = configuration(files)["scrape_configs"][job]["file_sd_configs"][0]["files"]
    return [address for group in json.loads(Path(path).read_text()) for address in group["targets"]]


def test_a_target_that_is_refused_is_reported_and_not_scraped(files: PrometheusFiles) -> None:
    assert files.write([SERVERS], {}, {}, WHERE)
    assert scraped(files, 0) == ["10.0.0.1:8000"]
    (reported,) = json.loads(files.report.read_text())
    assert [one["refused"] for one in reported["targets"]] == ["", "no NetworkPolicy admits gmp-system"]


def test_an_endpoint_without_its_token_has_no_targets(files: PrometheusFiles) -> None:
    files.write([PICKERS], {TOKEN: "Secret models/reader: forbidden"}, {}, WHERE)
    assert scraped(files, 0) == []
    assert "forbidden" in files.report.read_text()


def test_the_token_is_in_a_file_of_the_owners_and_nowhere_else(files: PrometheusFiles) -> None:
    files.write([PICKERS], {}, {TOKEN: "abc.def"}, WHERE)
    assert scraped(files, 0) == ["10.0.0.1:8000"]
    authorization = configuration(files)["scrape_configs"][0]["authorization"]
    path = Path(authorization["credentials_file"])
    assert (authorization["type"], path.read_text(), path.stat().st_mode & 0o777) == ("Bearer", "abc.def", 0o600)
    others = [one for one in files.root.rglob("*") if one.is_file() and one != path]
    assert others
    assert not [one for one in others if "abc.def" in one.read_text()]


def test_intervals_are_divided_and_kube_state_metrics_are_sampled_as_often_as_gke_does(files: PrometheusFiles) -> None:
    files.write([PICKERS], {}, {}, WHERE)
    pickers, states, _ = configuration(files)["scrape_configs"]
    assert (pickers["scrape_interval"], pickers["scrape_timeout"]) == ("2000ms", "500ms")
    assert states["scrape_interval"] == "1000ms"
    assert "namespace" not in states["static_configs"][0]["labels"]


def test_restarts_are_there_under_googles_name_only(files: PrometheusFiles) -> None:
    files.write([], {}, {}, WHERE)
    package, system = (job["metric_relabel_configs"] for job in configuration(files)["scrape_configs"])
    assert {"source_labels": ["__name__"], "regex": kube_state.RESTARTS, "action": "drop"} in package
    assert {"target_label": "__name__", "replacement": "kubernetes_io:container_restart_count"} in system
    assert {"target_label": "cluster_name", "replacement": "serving"} in system


@pytest.mark.parametrize(("text", "expected"), [("30s", 30_000), ("1m30s", 90_000), ("500ms", 500), ("1h", 3_600_000)])
def test_durations_are_prometheus_own(text: str, expected: int) -> None:
    assert milliseconds(text) == expected
    assert shortened(text, 1) == f"{expected}ms"
