"""The results of smoke as a table, as JUnit and as JSON, and the command around them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from llmd_gke.repository import CLONE
from llmd_gke.settings.validation import CLOUD_VARIABLE
from operations import models
from operations.cli import main
from operations.options import Cloud, Output
from operations.outputs import Endpoint, Outputs
from operations.printing import show
from operations.smoke import checks, command, report
from operations.smoke.outcome import Outcome
from operations.target import Target
from tests.fakes.vllm import Behaviour, serving

OUTCOMES = [
    Outcome("health", "qwen", "passed", "200", 0.04),
    Outcome(
        name="longer than 30 s",
        model="qwen",
        verdict="failed",
        detail="cut after 30.0 s <504>",
        seconds=30.1,
        cause="the backend timeout",
        fix="kubectl x",
    ),
    Outcome("both names", "qwen", "skipped", "no namespace in the URL"),
    Outcome(
        name="health",
        model="llama",
        verdict="failed",
        detail="bad \x00\x1b[31m byte",
        seconds=0.5,
        cause="",
        fix="llmd-gke status --stack eu4a",
    ),
]


def test_below_each_failed_check_stand_cause_and_fix(capsys: pytest.CaptureFixture[str]) -> None:
    show(Output.TABLE, {}, *report.rendered("eu4a", "google", OUTCOMES[:3]))
    lines = capsys.readouterr().out.splitlines()
    assert [word in lines[5] for word in ("longer than 30 s", "failed", "30.1", "cut after 30.0 s <504>")] == [True] * 4
    assert lines[-3:] == ["cause: the backend timeout", "fix:   kubectl x", "1 passed, 1 failed, 1 skipped"]


def test_junit_has_a_suite_for_each_model_and_survives_any_bytes() -> None:
    root = ElementTree.fromstring(report.junit("eu4a", OUTCOMES))
    assert [suite.get("name") for suite in root] == ["eu4a.qwen", "eu4a.llama"]
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("4", "2", "1")
    assert [case.find("failure") is not None for case in root.iter("testcase")] == [False, True, False, True]
    failure = root[0][1].find("failure")
    assert failure is not None
    assert failure.get("message") == "cut after 30.0 s <504>"
    assert "kubectl x" in str(failure.text)


def test_a_failure_is_explained_by_the_class_of_the_stacks_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CLOUD_VARIABLE, "laptop")
    with serving(Behaviour(unhealthy=True)) as url:
        up = Outputs("127.0.0.1", (Endpoint("qwen", url, "qwen"),), {}, {})
        monkeypatch.setattr(models, "read", lambda _target: up)
        (first, *_) = command.look(Target("istio", Cloud.LAPTOP, CLONE), seconds=9)
    assert "no pod of the model is ready" in first.cause


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "GKE_DEFAULT_SECONDS", 0.3)
    monkeypatch.setattr(checks, "CLEARLY_LONGER_SECONDS", 0.5)


@pytest.mark.usefixtures("quick")
def test_the_command_writes_json_to_standard_output_and_junit_to_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "results" / "smoke.xml"
    with serving(Behaviour(prefix="/models/qwen")) as url:
        status = main(["smoke", "--stack", "local", "--url", url, "-m", "qwen", "-o", "json", "--junit", str(file)])
    result = json.loads(capsys.readouterr().out)
    assert (status, result["failed"], result["passed"]) == (0, 0, 10)
    assert len(list(ElementTree.parse(file).iter("testcase"))) == 10


@pytest.mark.usefixtures("quick")
def test_a_failed_check_leaves_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Behaviour(accepts_any_json=True)) as url:
        assert main(["smoke", "--stack", "local", "--url", url, "--model", "qwen"]) == 1
    assert "1 of 10 checks failed" in capsys.readouterr().err


def test_in_the_rehearsal_there_is_nothing_to_ask_and_the_laptop_cloud_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["smoke", "--stack", "local"]) == 7
    assert "make up STACK=local CLOUD=laptop" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--stack", "absent"], "Pulumi.absent.yaml does not exist"),
        (["--stack", "local", "--url", "http://127.0.0.1:1"], "--url needs --model"),
        (["--stack", "local", "--url", "127.0.0.1", "-m", "x"], "is not a URL"),
        (["--stack", "local", "--url", "http://127.0.0.1:1", "-m", "x", "--ca", "/nowhere.pem"], "no certificates"),
    ],
)
def test_wrong_calls_leave_status_2_and_say_what_is_wrong(
    arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["smoke", *arguments]) == 2
    assert part in capsys.readouterr().err
