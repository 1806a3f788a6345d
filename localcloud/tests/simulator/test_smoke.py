"""Smoke against the real vLLM simulator, which nobody told what we want to hear."""

from __future__ import annotations

import asyncio

import pytest

from localcloud.tests.simulator.simulating import simulating
from operations.outputs import Endpoint
from operations.smoke import checks
from operations.smoke.client import Options
from operations.smoke.run import smoke

PACE = (
    "--max-model-len",
    "4096",
    "--max-num-seqs",
    "16",
    "--time-to-first-token",
    "50ms",
    "--inter-token-latency",
    "5ms",
)


def look(url: str) -> dict[str, str]:
    result = asyncio.run(smoke([Endpoint("qwen", url, "qwen")], "local", Options(), seconds=60))
    return {outcome.name: f"{outcome.verdict}: {outcome.detail}" for outcome in result}


def test_the_simulator_passes_every_check_that_its_address_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "GKE_DEFAULT_SECONDS", 1.0)
    monkeypatch.setattr(checks, "CLEARLY_LONGER_SECONDS", 2.0)
    with simulating(*PACE) as url:
        result = look(url)
    other = result.pop("both names")
    assert {name: message for name, message in result.items() if not message.startswith("passed")} == {}
    assert "publishers/models/models/qwen" in result["models"]
    assert other.startswith("skipped: the URL contains no namespace")


def test_failures_that_the_simulator_injects_fail_the_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CLEARLY_LONGER_SECONDS", 1.0)
    with simulating(*PACE, "--failure-injection-rate", "100", "--failure-types", "server_error") as url:
        result = look(url)
    assert result["health"].startswith("passed")
    for name in ("completion", "chat", "streaming", "several at once"):
        assert result[name].startswith("failed"), name
