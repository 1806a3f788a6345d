"""An acceptance run on the laptop cloud: status, smoke, bench go inside; the second up changes nothing.

The commands it calls are a script; ``localcloud/tests/real_kubernetes/test_operations.py`` has the real ones.
"""

from __future__ import annotations

import json
import os
import signal
import textwrap
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
import pytest

from operations import outputs
from operations.bench import result as bench_result
from operations.cli import main
from operations.live import engine, report
from operations.live import run as live_run
from operations.live.evidence import Evidence
from operations.options import Cloud
from operations.smoke import report as smoke_report
from operations.smoke.outcome import Outcome
from operations.status import screen
from operations.status.objects import Line, State
from operations.target import Target
from tests.operations.bench.test_results import RESULT, level
from tests.operations.live.conftest import ROOT, Project, running
from tests.operations.live.support import verdicts

UNCHANGED = {"same": 33}


MEASURED = replace(
    RESULT,
    stack="local",
    cloud="laptop",
    mark=bench_result.LAPTOP,
    levels=(level("random", 1, 1280, 0.012, 0.5), level("random", 2, 2560, 0.012, 0.5), level("shared", 1, 9, 0.012)),
)


def seen_as(state: State) -> dict[str, object]:
    section = screen.ScreenSection("Nodes", [Line("v6e4 (ct6e-standard-4t 2x2)", state, "3 of 3 nodes | ready")])
    return screen.as_json("local", "laptop", [section])


@pytest.fixture
def laptop(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Project:
    """A laptop cloud in which all is well; ``history`` is what the engine keeps of the second up."""
    (project.root / "result.json").write_text(json.dumps(bench_result.as_json(MEASURED)))
    project.answers("status", seen_as(State.GOOD))
    project.answers("smoke", smoke_report.as_json("local", "laptop", [Outcome("health", "qwen", "passed", "")]))
    project.answers("bench", {}, stderr="random prompts, 4 concurrent, before: 900 tokens/s ...\n")
    (tmp_path / "history").write_text(json.dumps([{"resourceChanges": UNCHANGED}]))

    def asked(_: Target, *arguments: str) -> str:
        assert arguments[:3] == ("stack", "history", "--json")
        return (tmp_path / "history").read_text()

    monkeypatch.setattr(outputs, "_ask", asked)
    monkeypatch.setattr(outputs, "remaining", lambda target: [])
    for name, command in (("up", ["true"]), ("down", ["true"]), ("unchanged", ["true"])):
        monkeypatch.setattr(engine, name, lambda target, *_, command=command: command)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    return project


def go(project: Project, folder: Path) -> tuple[Evidence, list[str]]:
    lines: list[str] = []
    target = project.target("local", Cloud.LAPTOP)
    run = live_run.Run(target, live_run.Plan(folder / "out", bench_seconds=2, bench_most=2), lines.append)
    return run.all(), lines


def test_a_run_on_the_laptop_cloud_skips_no_step(laptop: Project, tmp_path: Path) -> None:
    seen, lines = go(laptop, tmp_path)
    assert verdicts(seen) == dict.fromkeys(("up", "second up", "status", "smoke", "bench", "destroy"), "passed")
    assert seen.unchanged is True
    assert seen.status["state"] == "good"
    assert seen.smoke == {"qwen: health": "passed"}
    assert seen.bench == MEASURED
    assert "bench: random prompts, 4 concurrent, before: 900 tokens/s" in lines


def test_the_report_shows_what_was_seen_inside_and_that_it_measures_nothing(laptop: Project, tmp_path: Path) -> None:
    seen, _ = go(laptop, tmp_path)
    text = report.as_markdown(seen, "2026-11-21", "The laptop costs nothing.")
    assert "| v6e4 (ct6e-standard-4t 2x2) | good | 3 of 3 nodes \\| ready |" in text
    assert "- qwen: health: passed" in text
    assert "| random | 2 | 100 | 0 | 2,560 | 12 ms | 24 ms | 50% | - |" in text
    assert f"**NOT A MEASUREMENT**: {bench_result.LAPTOP}." in text
    assert f"NOT A MEASUREMENT: {bench_result.LAPTOP}" in next(one.text for one in seen.steps if one.name == "bench")
    data: Any = report.as_data(seen, "2026-11-21", "")
    assert (data["unchanged"], data["status"]["state"]) == (True, "good")
    assert data["bench"]["mark"] == bench_result.LAPTOP


@pytest.mark.parametrize(
    "history",
    [
        [{"resourceChanges": {"same": 32, "update": 1}}, {"resourceChanges": UNCHANGED}],
        [{"resourceChanges": {"create": 1}}],
        [{"kind": "update"}],
        [],
    ],
)
def test_a_second_up_that_changes_something_or_left_no_history_fails(
    laptop: Project, tmp_path: Path, history: list[object]
) -> None:
    (tmp_path / "history").write_text(json.dumps(history))
    seen, _ = go(laptop, tmp_path)
    assert verdicts(seen)["second up"] == "failed"
    assert seen.unchanged is False


def test_the_second_up_of_a_cloud_of_this_machine_is_its_up_and_that_of_google_a_preview() -> None:
    second = engine.unchanged(Target("local", Cloud.LAPTOP, ROOT))
    assert second == ["make", "up", "STACK=local", "CLOUD=laptop", "ARGS=--always"]
    google = Target("eu4a", Cloud.GOOGLE, ROOT)
    assert engine.unchanged(google)[:3] == ["pulumi", "preview", "--expect-no-changes"]
    assert engine.was_unchanged(google, 0)
    assert not engine.was_unchanged(google, 1)
    assert not engine.was_unchanged(Target("local", Cloud.LAPTOP, ROOT), 1)


def test_a_screen_with_something_bad_fails_the_step_and_stays_in_the_report(laptop: Project, tmp_path: Path) -> None:
    laptop.answers("status", seen_as(State.BAD), status=1, stderr="Stack local needs attention; see above.\n")
    seen, _ = go(laptop, tmp_path)
    assert verdicts(seen)["status"] == "failed"
    assert seen.status["state"] == "bad"


@pytest.mark.parametrize(
    ("status", "problem"), [(7, "The laptop cloud is not running."), (1, "The load generator ended")]
)
def test_a_command_without_a_result_fails_its_step_with_its_own_words(
    laptop: Project, tmp_path: Path, status: int, problem: str
) -> None:
    (laptop.root / "bench.out").unlink()
    laptop.answers("bench", None, status=status, stderr=f"{problem}\nFix: make up\n")
    step = next(one for one in go(laptop, tmp_path)[0].steps if one.name == "bench")
    assert step.verdict == "failed"
    assert problem in step.text


class Entered(Exception):
    """Where the command would become another process, inside."""


def test_what_a_run_calls_are_calls_that_the_commands_understand_and_that_lead_inside(
    laptop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def entered(target: Target) -> None:
        assert (target.stack, target.cloud) == ("local", Cloud.LAPTOP)
        raise Entered

    go(laptop, tmp_path)
    assert [command[0] for command, _ in laptop.calls] == ["status", "smoke", "bench"]
    monkeypatch.setenv("LLMD_GKE_ROOT", str(laptop.root))
    monkeypatch.setenv("LLMD_GKE_HOME", str(tmp_path / "no-laptop-cloud"))
    for command, path in laptop.calls:
        assert path == str(ROOT)
        monkeypatch.setattr(import_module(f"operations.{command[0]}.command"), "enter", entered)
        with pytest.raises(Entered):
            main(command)


def test_ctrl_c_is_passed_on_to_a_called_command_which_has_ended_when_the_run_goes_on(project: Project) -> None:
    """A real Ctrl-C to real processes; the command notes that it was told to stop."""
    (project.root / "operations" / "__main__.py").write_text(
        textwrap.dedent(f"""
            import signal, sys, time
            told = []
            signal.signal(signal.SIGINT, lambda *_: told.append("told"))
            print("measuring ...", file=sys.stderr, flush=True)
            while not told:
                time.sleep(0.01)
            open({str(project.root / "told")!r}, "w").write("told")
        """)
    )
    code = textwrap.dedent(f"""
        from pathlib import Path
        from operations.live.calls import call
        from operations.options import Cloud
        from operations.target import Target
        target = Target("local", Cloud.LAPTOP, Path({str(project.root)!r}))
        try:
            call(target, "bench", say=lambda line: print(line, flush=True))
        except KeyboardInterrupt:
            print("told:", Path({str(project.root / "told")!r}).read_text(), flush=True)
            raise
    """)
    with running(code) as ours:
        assert ours.stdout is not None
        children = psutil.Process(ours.pid).children(recursive=True)
        assert [os.getpgid(child.pid) for child in children] == [children[0].pid], "the terminal's does not reach it"
        os.kill(ours.pid, signal.SIGINT)
        assert ours.stdout.read() == "told: told\n"
        assert ours.wait(30) != 0
        assert psutil.wait_procs(children, 10)[1] == []


def test_a_level_too_short_for_the_benchmark_is_refused_before_anything_is_made(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["live", "--stack", "local", "--bench-seconds", "0.5"]) == 2
    assert "--bench-seconds 0.5" in capsys.readouterr().err
