"""The load generator itself, against the real vLLM simulator. Both have to be there already: neither is set up here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from localcloud.tests.simulator.keyed import behind_key
from localcloud.tests.simulator.simulating import simulating
from operations.bench import load
from operations.bench.workload import Workload
from operations.cli import main
from operations.outputs import Endpoint
from tests.fakes import generator

pytestmark = pytest.mark.slow


def test_a_level_measures_what_the_simulator_was_set_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generator.python()
    pace = ("--max-model-len", "4096", "--time-to-first-token", "200ms", "--inter-token-latency", "20ms")
    command = ["--workload", "random", "--first", "2", "--most", "2", "--seconds", "5", "--warmup", "1", "-o", "json"]
    lengths = ["--prompt-tokens", "200", "--prefix-tokens", "100", "--output-tokens", "16"]
    with simulating(*pace) as url:
        call = ["bench", "--stack", "local", "--url", url, "--model", "qwen", *command, *lengths]
        assert main([*call, "--folder", str(tmp_path)]) == 0
    result = json.loads(capsys.readouterr().out)
    [level] = result["levels"]
    assert level["errors"] == 0
    assert level["requests"] >= 5
    # 200 ms and 15 times 20 ms were asked for; a busy machine only adds to that.
    assert level["ttft_p50"] >= 0.19
    assert level["itl_p50"] >= 0.019
    assert level["output_tokens_per_second"] <= 2 * 16 / 0.5
    assert level["prompt_tokens"] >= 200
    assert {Path(file).name for file in result["files"]} >= {"result.json", "throughput.png", "first-token.svg"}
    assert "NOT A MEASUREMENT" in (tmp_path / "throughput.svg").read_text()
    assert (tmp_path / "throughput.png").read_bytes().startswith(b"\x89PNG")


def test_the_turns_of_a_session_have_its_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generator.python()
    command = ["--workload", "agentic", "--first", "2", "--most", "2", "--seconds", "8", "--warmup", "0"]
    lengths = ["--prompt-tokens", "200", "--prefix-tokens", "100", "--output-tokens", "16", "--turns", "3"]
    with simulating("--max-model-len", "4096", "--enable-kvcache") as url:
        call = ["bench", "--stack", "local", "--url", url, "--model", "qwen", *command, *lengths]
        assert main([*call, "--folder", str(tmp_path)]) == 0
    assert "By turn, 2 at once" in capsys.readouterr().out
    [level] = json.loads((tmp_path / "result.json").read_text())["levels"]
    one, two, three = (turn["prompt_tokens"] for turn in level["turns"])
    assert two - one > 100
    assert three - two > 100


def test_every_request_has_the_callers_key_and_googles_token_and_none_asks_for_health() -> None:
    with behind_key("key-of-team-a", "token-of-google") as (url, asked):
        endpoint = Endpoint("qwen", url, "qwen", key="key-of-team-a", identity="token-of-google")
        amounts = load.Load([Workload("random", 200, 100, 16)], seconds=2, warmup=3, most=1)
        ([level], _) = load.run(generator.python(), endpoint, amounts, lambda text: None)
    assert (level.errors, level.requests > 0) == (0, True)
    # A server that answers at once has not answered everything when the warm-up ends.
    assert 1.5 < level.seconds < 3
    assert {path for path, _ in asked} <= {"/v1/models", "/v1/completions"}
    assert {key for _, key in asked} == {"Bearer key-of-team-a"}
    assert "key-of-team-a" not in repr(endpoint)
    assert "token-of-google" not in repr(endpoint)
