"""Look after look at a cluster that changes, goes away and comes back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from operations import outputs
from operations.cli import main
from operations.options import Cloud
from operations.outputs import Endpoint, Outputs
from operations.status.objects import State
from operations.status.screen import ScreenSection
from operations.status.snapshots import looks
from operations.target import Target
from tests.fakes.vllm import Behaviour, serving
from tests.operations.status.shapes import READY_SERVICE, container, node, server
from tests.operations.status.test_command import api

TARGET = Target("eu4a", Cloud.GOOGLE, Path(__file__).parents[3])
PODS = "/api/v1/pods"


def cluster(pod: dict[str, Any]) -> dict[str, Any]:
    service = "/apis/serving.kserve.io/v1alpha2/namespaces/{}/llminferenceservices"
    result: dict[str, Any] = {"/api/v1/nodes": {"items": [node("n", "system")]}, PODS: {"items": [pod]}}
    result[service.format("models")] = {"items": [READY_SERVICE]}
    return result


STARTING = server("qwen-kserve-abc-1", container("main"), container("warm-up"))


@pytest.fixture
def up(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The outputs of a stack whose gateway and API server are the ones given."""

    def given(url: str, kubeconfig: str) -> None:
        values = Outputs("127.0.0.1", (Endpoint("qwen", url, "qwen"),), {"name": "llmd-eu4a"}, {})
        monkeypatch.setattr(outputs, "read", lambda target: values)
        monkeypatch.setattr(outputs, "kubeconfig", lambda target: kubeconfig)

    return given


def lines(sections: list[ScreenSection], title: str) -> list[str]:
    return [line.text for section in sections if section.title == title for line in section.lines]


def test_a_pod_that_becomes_ready_is_seen_by_the_next_look(up: Any) -> None:
    async def two() -> tuple[list[ScreenSection], list[ScreenSection]]:
        seen = looks(TARGET, ask=True)
        first = await anext(seen)
        pages[PODS] = {"items": [server("qwen-kserve-abc-1", ready=True)]}
        second = await anext(seen)
        await seen.aclose()
        return first, second

    pages = cluster(STARTING)
    with serving(Behaviour()) as url, api(pages) as kubeconfig:
        up(url, kubeconfig)
        first, second = asyncio.run(two())
    assert lines(first, "Model qwen")[0].startswith("4/7 server starts")
    assert lines(second, "Model qwen")[0].startswith("ready")
    assert lines(second, "Answers")[0].startswith("a token in")


def test_a_cluster_out_of_reach_does_not_hide_that_the_model_answers(
    up: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with api({}) as kubeconfig:
        pass  # the port is free again
    with serving(Behaviour()) as url:
        up(url, kubeconfig)
        assert main(["status", "--stack", "eu4a", "--cloud", "google", "-o", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [section["title"] for section in data["sections"]] == ["Cluster", "Answers", "Alerts"]
    assert "does not answer" in data["sections"][0]["lines"][0]["text"]
    assert data["sections"][1]["lines"][0]["state"] == "good"


@pytest.fixture
def laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    """As the stack's twin in a laptop cloud that has no file yet."""
    monkeypatch.delenv("LLMD_GKE_GOOGLE_ENDPOINT", raising=False)
    monkeypatch.setenv("LLMD_GKE_CLOUD", "laptop")
    monkeypatch.setenv("LLMD_GKE_HOME", str(tmp_path / "home"))
    target = Target("eu4a", Cloud.LAPTOP, TARGET.root)
    target.workdir.cloud.mkdir(parents=True)
    return target


def look(target: Target, up: Any) -> list[ScreenSection]:
    async def one() -> list[ScreenSection]:
        seen = looks(target, ask=False)
        snapshot = await anext(seen)
        await seen.aclose()
        return snapshot

    with api(cluster(STARTING)) as kubeconfig:
        up("http://127.0.0.1:1/models/qwen", kubeconfig)
        return asyncio.run(one())


def test_an_emulator_that_cannot_start_costs_one_line_and_not_the_screen(up: Any, laptop: Target) -> None:
    (laptop.workdir.cloud / "google-api.json").write_text("{}")
    (laptop.workdir.cloud / "google.json").write_text("{half")
    (section,) = [section for section in look(laptop, up) if section.title == "Google's load balancer"]
    (line,) = section.lines
    assert (line.subject, line.state) == ("load balancer", State.UNKNOWN)
    assert "google.json is damaged" in line.text
    assert "make down" in line.fix


def test_the_token_can_be_left_out(up: Any) -> None:
    assert lines(look(TARGET, up), "Answers") == []
