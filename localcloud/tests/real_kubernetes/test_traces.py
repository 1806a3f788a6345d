"""Traces of a model of real KServe: its endpoint picker sends spans to the stack's receiver, and stops when told so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.catalog import tracing
from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import ask, chat

ADDRESS = f"http://172.16.0.2:{tracing.GRPC_PORT}"
"""Of the control plane's network, which pods reach."""
RECEIVER = Path(__file__).with_name("trace_receiver.py")
PICKER = "qwen-kserve-router-scheduler"


@pytest.fixture
def received(laptop: Laptop, tmp_path: Path) -> Iterator[Path]:
    """What a receiver of OTLP gets, in a file: a list of names for each export."""
    file = tmp_path / "spans.jsonl"
    with laptop.beside(str(RECEIVER), str(tracing.GRPC_PORT), file=file, seconds=30):
        yield file


def exports(file: Path) -> list[list[str]]:
    """Every export so far."""
    return [json.loads(line) for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]


def trace_all(config: dict[str, Any]) -> None:
    """Every request is traced."""
    config["llmd-gke:monitoring"] = {"traces": {"endpoint": ADDRESS, "samplingRatio": 1}}


def test_every_request_leaves_a_span_of_the_picker_until_traces_are_off_again(laptop: Laptop, received: Path) -> None:
    replicas = len(models.servers(laptop))
    with models.changed(laptop):
        laptop.edit("local", trace_all)
        laptop.up()
        # An update may end while the service is still Ready with the pods from before.
        until(lambda: objects.condition(models.service(laptop), "Ready") == "True", "the service is ready")
        pods = [*models.ready_servers(laptop, replicas), *objects.pods_of(laptop, PICKER)]
        traced = {key: str(value) for key, value in objects.variables(pods[-1]).items() if key in tracing.VARIABLES}
        assert traced["OTEL_EXPORTER_OTLP_ENDPOINT"] == ADDRESS
        assert traced["OTEL_TRACES_SAMPLER"] == tracing.SAMPLER
        assert all(objects.variables(pod)["OTEL_EXPORTER_OTLP_ENDPOINT"] == ADDRESS for pod in pods)
        url, name = models.endpoint(laptop)
        assert {
            answer["status"] for answer in ask(laptop, url, *[chat(f"trace {n}", model=name) for n in range(3)])
        } == {200}
        spans = until(lambda: exports(received), "a span of the picker", 60)
        assert any("gateway-api-inference-extension" in names for names in spans), spans
    pods = [*models.ready_servers(laptop, replicas), *objects.pods_of(laptop, PICKER)]
    assert [objects.name(pod) for pod in pods if "OTEL_EXPORTER_OTLP_ENDPOINT" in objects.variables(pod)] == []
