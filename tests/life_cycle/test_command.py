"""What the command says of the seeds that it played, and which it leaves out."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.fakes.script import SHEBANG
from tests.life_cycle import __main__ as command
from tests.life_cycle.__main__ import Result
from tests.life_cycle.steps import Kill, Step


def test_the_summary_counts_faults_and_names_the_seeds_that_failed() -> None:
    results = [
        Result(7, "[]", 5, 60.0, [], 1, {"drop": 2}),
        Result(8, "[]", 4, 40.0, ["bad"], 0, {"drop": 1, "quota": 1}),
    ]
    summary = command.summary(results)
    assert "2 seeds, 9 commands, 100 s" in summary
    assert "faults met: drop 3, quota 1" in summary
    assert summary.endswith("failed: 8")


def test_seeds_whose_last_result_is_good_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    played = [Result(1, "[]", 5, 60.0, ["bad"]), Result(2, "[]", 5, 60.0, ["bad"]), Result(1, "[]", 5, 60.0, [])]
    file.write_text("".join(json.dumps(asdict(one)) + "\n" for one in played))
    assert command._passed(file) == {1}
    assert command._passed(tmp_path / "none") == set()


PROGRAM = """
import json, os, sys, time
from pathlib import Path
number, file = int(sys.argv[sys.argv.index("--seed") + 1]), Path(sys.argv[sys.argv.index("--results") + 1])
Path(f"{file}-{number}").touch()
deadline = time.monotonic() + 60
while number < 3 and len(list(file.parent.glob("*-[12]"))) < 2 and time.monotonic() < deadline:
    time.sleep(0.01)
print("seed", number)
if number != 3:
    wrong = [] if time.monotonic() < deadline else ["alone"]
    result = {"seed": number, "plan": "[]", "steps": 4, "seconds": 1, "wrong": wrong}
    with file.open("a") as lines:
        lines.write(json.dumps(result) + chr(10))
"""
"""In place of a life cycle: seeds 1 and 2 wait for each other, and 3 ends without a result."""


def test_seeds_are_played_side_by_side_and_one_without_a_result_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_text(f"{SHEBANG}{PROGRAM}")
    interpreter.chmod(0o755)
    monkeypatch.setattr(command.sys, "executable", str(interpreter))
    results = command.side_by_side([1, 2, 3], 2, tmp_path / "results.jsonl", [])
    assert {one.seed: one.wrong for one in results} == {1: [], 2: [], 3: ["its process ended without a result"]}
    assert capsys.readouterr().out.splitlines() == ["seed 1", "seed 2", "seed 3"]


def test_a_plan_is_shrunk_to_what_still_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def played(plan: list[Step], folder: Path) -> command.Outcome:
        return command.Outcome(wrong=["bad"] if any(step.kill for step in plan) else [])

    monkeypatch.setattr(command, "played", played)
    plan = [Step("up", "two replicas"), Step("up", "a second pool", (), Kill("engine", 3)), Step("down")]
    assert command.shrunk(plan) == [Step("up", "", (), Kill("engine", 3))]
