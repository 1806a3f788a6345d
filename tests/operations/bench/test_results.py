"""Prompts, levels, results, and two results beside each other."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.catalog.zones import old_prices
from llmd_gke.settings.load import load_stack
from operations.bench import levels, price, tables
from operations.bench.result import LAPTOP, BenchResult, Level, as_json, read
from operations.bench.workload import Workload, prompts
from operations.cli import main
from operations.exits import BadInput
from operations.options import Output
from operations.printing import show

ROOT = Path(__file__).parents[3]


def first(kind: Any, seed: str, count: int = 40) -> list[str]:
    return list(itertools.islice(prompts(Workload(kind, 300, 256, groups=4), seed), count))


def beginnings(result: list[str]) -> set[str]:
    return {" ".join(prompt.split()[:256]) for prompt in result}


def test_shared_prompts_have_as_many_beginnings_as_groups_and_random_ones_share_none() -> None:
    assert len(beginnings(first("shared", "run shared 1"))) == 4
    assert len(beginnings(first("random", "run random 1"))) == 40


def test_levels_of_a_run_share_beginnings_but_no_prompt_and_another_run_shares_nothing() -> None:
    one, two, other = first("shared", "a shared 1"), first("shared", "a shared 2"), first("shared", "b shared 1")
    assert beginnings(one) == beginnings(two)
    assert not set(one) & set(two)
    assert not beginnings(one) & beginnings(other)


@pytest.mark.parametrize(
    ("throughputs", "errors", "why"),
    [
        ([100, 200], 0.0, ""),
        ([100, 200, 390], 0.0, ""),
        ([100, 200, 205], 0.0, ""),  # one flat doubling can be a hiccup
        ([100, 200, 205, 390], 0.0, ""),
        ([100, 200, 205, 210], 0.0, "flat"),
        ([100, 200, 150, 120], 0.0, "flat"),
        ([100], 0.2, "20% of the requests failed"),
        ([0.0], 0.0, "no request finished after the warm-up"),
    ],
)
def test_raising_ends_when_two_doublings_bring_nothing_or_requests_fail(
    throughputs: list[float], errors: float, why: str
) -> None:
    reason = levels.enough(throughputs, errors)
    assert why in reason
    assert bool(reason) == bool(why)


def level(kind: str, concurrency: int, tokens: float, ttft: float, cached: float | None = None) -> Level:
    return Level(
        workload=kind,
        concurrency=concurrency,
        seconds=30.0,
        requests=100,
        errors=0,
        requests_per_second=tokens / 128,
        output_tokens_per_second=tokens,
        ttft_p50=ttft,
        ttft_p95=ttft * 2,
        itl_p50=0.01,
        latency_p50=1.5,
        latency_p95=2.0,
        prompt_tokens=1150,
        cached_share=cached,
    )


RESULT = BenchResult(
    stack="eu4a",
    cloud="google",
    model="qwen",
    mark="",
    taken="2026-11-21T12:00:00Z",
    generator="guidellm==0.8.1",
    chips=12,
    usd_per_hour=35.64,
    settings={"prompt_tokens": 1152},
    levels=(
        level("random", 1, 100, 0.1),
        level("random", 2, 190, 0.12),
        level("shared", 1, 105, 0.05, 0.88),
        level("shared", 2, 209, 0.03, 0.9),
    ),
    stopped={"random": "throughput is flat: doubling the concurrency twice increased it by less than a tenth"},
)

FRESH = date(2026, 9, 1)
"""A day on which the price table is not old."""


@pytest.fixture(autouse=True)
def _as_wide_as_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def shown(parts: list[Any], capsys: pytest.CaptureFixture[str]) -> list[str]:
    show(Output.TABLE, {}, *parts)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_run_has_a_table_for_each_kind_of_prompts_with_price_and_gain(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(tables.run(RESULT, FRESH), capsys)
    rows = [line.strip("│ ").split(" │ ") for line in lines if line.startswith("│")]
    assert [[cell.strip() for cell in row] for row in rows][1::2] == [
        ["2", "100", "0", "190", "120 ms", "240 ms", "10 ms", "?", "52.11"],
        ["2", "100", "0", "209", "30 ms", "60 ms", "10 ms", "90%", "47.37"],
    ]
    assert "first token -75%, throughput +10%." in lines[-2] + lines[-3]
    assert lines[-1] == "Price: 12 chips at 35.64 USD per hour, list price of 2026-08."
    later = date(2026, 11, 22)
    assert shown(tables.run(RESULT, later), capsys) == [*lines, old_prices(later)]


def test_numbers_of_the_laptop_cloud_are_marked_and_have_no_price_in_every_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laptop = replace(RESULT, mark=LAPTOP, cloud="laptop")
    mark = f"NOT A MEASUREMENT: {LAPTOP}."
    lines = shown(tables.run(laptop, FRESH), capsys)
    assert mark in lines
    assert not any("99.00" in line or line.startswith("Price") for line in lines)
    data: Any = as_json(laptop)
    assert data["mark"] == LAPTOP
    assert {one["usd_per_million_output_tokens"] for one in data["levels"]} == {None}
    assert f"NOT A MEASUREMENT (second): {LAPTOP}." in shown(tables.comparison(RESULT, laptop), capsys)


def test_a_result_comes_back_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(json.dumps(as_json(RESULT)))
    assert read(file) == RESULT


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("no", "cannot be read"),
        ("[]", "not a result"),
        ('{"format": 1, "stack": "x"}', "is damaged: cloud: Field required"),
    ],
)
def test_a_file_that_is_no_result_is_refused(tmp_path: Path, text: str, part: str) -> None:
    file = tmp_path / "result.json"
    file.write_text(text)
    with pytest.raises(BadInput, match=part):
        read(file)


def test_two_results_are_compared_level_by_level_and_what_differs_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    faster = replace(
        RESULT, chips=16, levels=(level("random", 2, 285, 0.06), level("random", 64, 900, 0.5)), taken="2026-11-22"
    )
    files: list[str] = []
    for name, result in (("old", RESULT), ("new", faster)):
        (tmp_path / name).write_text(json.dumps(as_json(result)))
        files.append(str(tmp_path / name))
    assert main(["bench", "compare", *files]) == 0
    out = capsys.readouterr().out
    assert "190 → 285 (+50%)" in out
    assert "120 ms → 60 ms (-50%)" in out
    assert "900" not in out
    assert "Not the same: chips 12 and 16." in out


def test_a_tpu_and_a_gpu_are_compared_by_the_lowest_price_of_a_token(capsys: pytest.CaptureFixture[str]) -> None:
    settings = load_stack(ROOT, "gpu").settings
    cost = price.of_model(settings, settings.models[0])
    gpu = replace(
        RESULT,
        model="qwen-gpu",
        chips=cost.chips,
        usd_per_hour=cost.usd_per_hour,
        hardware=price.hardware(settings, settings.models[0]),
        levels=(level("random", 1, 20, 0.3), level("random", 4, 40, 0.4)),
    )
    tpu = replace(RESULT, hardware="ct6e-standard-4t 2x2 spot")
    text = " ".join(shown(tables.comparison(tpu, gpu), capsys))
    cheapest = text[text.index("Lowest price") :]
    assert cheapest.index("with qwen-gpu on g2-standard") < cheapest.index("52.11 USD with qwen on ct6e-standard-4t")
    assert "at 4 concurrent" in cheapest


def test_the_price_is_that_of_the_models_own_hosts() -> None:
    settings = load_stack(ROOT, "eu4a").settings
    cost = price.of_model(settings, settings.models[0])
    assert (cost.chips, cost.usd_per_hour) == (12, 35.64)


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["compare", "one"], 2, "bench compare OLD.json NEW.json"),
        (["--stack", "local"], 7, "CLOUD=laptop"),
        (["--workload", "some"], 2, "Allowed: both, random, shared, agentic"),
        (["--prefix-tokens", "2000"], 2, "leaves none"),
        (["--first", "8", "--most", "4"], 2, "--first 8 is more than --most 4"),
        (["--url", "http://127.0.0.1:1"], 2, "--url needs --model"),
    ],
)
def test_wrong_calls_say_what_is_wrong(
    arguments: list[str], status: int, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *arguments]) == status
    assert part in capsys.readouterr().err
