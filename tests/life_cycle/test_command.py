"""What the command says of the seeds that it played, and which it leaves out."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.life_cycle import __main__ as command
from tests.life_cycle.__main__ import Result
from tests.life_cycle.steps import Kill, Step


def test_the_summary_counts_faults_and_names_the_seeds_that_failed() -> None:
    results = [
        Result(7, "[]", 5, 60.0, [], 1, {"drop": 2}),
        Result(8, "[]", 4, 40.0, ["bad"], 0, {"drop": 1, "quota": 1}),
    ]
    said = command.summary(results)
    assert "2 seeds, 9 commands, 100 s" in said
    assert "faults met: drop 3, quota 1" in said
    assert said.endswith("failed: 8")


def test_seeds_whose_last_result_is_good_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    played = [Result(1, "[]", 5, 60.0, ["bad"]), Result(2, "[]", 5, 60.0, ["bad"]), Result(1, "[]", 5, 60.0, [])]
    file.write_text("".join(json.dumps(asdict(one)) + "\n" for one in played))
    assert command._passed(file) == {1}
    assert command._passed(tmp_path / "none") == set()


def test_a_plan_is_shrunk_to_what_still_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def played(plan: list[Step], folder: Path) -> command.Outcome:
        return command.Outcome(wrong=["bad"] if any(step.kill for step in plan) else [])

    monkeypatch.setattr(command, "played", played)
    plan = [Step("up", "two replicas"), Step("up", "a second pool", (), Kill("engine", 3)), Step("down")]
    assert command.shrunk(plan) == [Step("up", "", (), Kill("engine", 3))]
