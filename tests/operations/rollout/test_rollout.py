"""``llmd-gke rollout``, with an engine that answers from files, and other commands that say what a test wants."""

from __future__ import annotations

import json
import os
from typing import cast

import pytest
import yaml

from operations.live.calls import Done as Asked
from operations.rollout import checks, run
from operations.target import Target
from tests.operations.conftest import Clone
from tests.operations.engine import Engine
from tests.operations.support import Done
from tests.operations.support import run as call

VERSIONS = """\
      # two of them
      versions: [{name: v1}, {name: v2, image: "vllm/vllm-tpu:v0.27.0"}, {name: v3}]
"""


class Others:
    """The other commands: servers that are ready, a smoke test's exit status, and what was asked."""

    def __init__(self) -> None:
        self.ready, self.smoke = {"qwen", "qwen-v2", "qwen-v3"}, 0
        self.asked: list[tuple[str, ...]] = []

    def __call__(self, target: Target, *words: str) -> Asked:
        self.asked.append(words)
        if words[0] == "smoke":
            return Asked(self.smoke, "", "no chat" if self.smoke else "")
        ready = {"subject": "pod", "state": "good", "text": "ready for 2 min", "fix": ""}
        sections = [{"title": f"Model {one}", "lines": [ready]} for one in self.ready]
        return Asked(0, json.dumps({"sections": sections}), "")


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> Others:
    made = Others()
    monkeypatch.setattr(checks, "call", made)
    return made


@pytest.fixture(autouse=True)
def versions(clone: Clone, engine: Engine) -> None:
    clone.write(replicas=1)
    clone.edit('- {name: qwen, uri: "hf://Qwen/Qwen3-4B", pool: pool, replicas: 1}', "- name: qwen")
    clone.add('      uri: "hf://Qwen/Qwen3-4B" # the weights\n      pool: pool\n' + VERSIONS)
    engine.left("qwen", "qwen-v2", "qwen-v3", stopped=False)


def rollout(clone: Clone, engine: Engine, *arguments: str) -> Done:
    return call("rollout", "--stack", "one", "--yes", *arguments, root=clone.root, environment=engine.environment)


def said(clone: Clone) -> dict[str, object]:
    """The rollout in the file."""
    config = yaml.safe_load(clone.file.read_text())["config"]
    return cast("dict[str, object]", config["llmd-gke:models"][0].get("rollout", {}))


def test_each_step_is_in_the_file_before_its_update_and_the_rest_of_the_file_stays(
    clone: Clone, engine: Engine, others: Others, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[tuple[float, object]] = []
    monkeypatch.setattr(run, "sleep", lambda seconds: waited.append((seconds, said(clone)["percent"])))
    before = clone.file.read_text().splitlines()
    done = rollout(clone, engine, "--to", "v2", "--percent", "50", "--step", "20", "--every", "5m", "--check", "smoke")
    assert done.returncode == 0, done.stderr
    assert waited == [(300, 20), (300, 40)]
    assert said(clone) == {"to": "v2", "percent": 50, "stable": "v1"}
    assert engine.says("calls").count("up --yes") == 3
    assert "percent: 50" in engine.says("file")
    assert [one for one in clone.file.read_text().splitlines() if "rollout" not in one] == before
    assert others.asked.count(("smoke", "--model", "qwen-v2")) == 3
    assert "llmd-gke rollout --model qwen --stack one --back" in done.stdout


@pytest.mark.parametrize("check", ["smoke", "alerts"])
def test_a_check_that_fails_or_cannot_be_made_takes_all_requests_back(
    clone: Clone, engine: Engine, others: Others, monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    others.smoke = 1
    away = Asked(8, "", "no chat")
    monkeypatch.setattr(run, "sleep", lambda _: monkeypatch.setattr(checks, "call", lambda *_: away))
    done = rollout(clone, engine, "--to", "v2", "--percent", "50", "--check", check)
    assert done.returncode == 1
    assert said(clone) == {"to": "v2", "percent": 0, "stable": "v1"}
    assert "percent: 0" in engine.says("file")
    assert "no chat" in done.stderr
    assert "v1 answers all of them again" in done.stderr


def test_requests_do_not_go_back_to_a_version_that_fails(clone: Clone, engine: Engine, others: Others) -> None:
    assert rollout(clone, engine, "--to", "v2", "--percent", "50").returncode == 0
    others.smoke = 1
    done = rollout(clone, engine, "--to", "v2", "--percent", "5", "--check", "smoke")
    assert (done.returncode, said(clone)["percent"]) == (1, 5)
    assert "v1 answers 95 % of the requests of qwen and failed its checks" in done.stderr


def test_a_way_back_whose_update_fails_names_the_log_and_is_completed_by_the_way_back(
    clone: Clone, engine: Engine, others: Others, monkeypatch: pytest.MonkeyPatch
) -> None:
    others.smoke = 1
    monkeypatch.setattr(run, "sleep", lambda _: (engine.folder / "fails").touch())
    done = rollout(clone, engine, "--to", "v2", "--step", "50", "--check", "smoke")
    assert (done.returncode, said(clone)["percent"]) == (1, 0)
    assert "this is the up" in done.stderr
    assert "the log names; `llmd-gke rollout --model qwen --stack one --back` completes it\n" in done.stderr


def test_the_next_rollout_begins_where_the_last_one_ended_and_the_way_back_leads_there(
    clone: Clone, engine: Engine, others: Others
) -> None:
    assert rollout(clone, engine, "--to", "v2").returncode == 0
    assert rollout(clone, engine, "--to", "v3", "--percent", "5").returncode == 0
    assert said(clone) == {"to": "v3", "percent": 5, "stable": "v2"}
    others.asked.clear()
    assert rollout(clone, engine, "--back").returncode == 0
    assert said(clone) == {"to": "v3", "percent": 0, "stable": "v2"}


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    ("given", "arguments", "problem"),
    [
        ("", ("--to", "v9"), "no version v9"),
        ("", ("--to", "v1"), "v1 answers all requests"),
        ("", ("--back",), "has no rollout"),
        *[("", ("--back", *more), "or --back alone") for more in (("--to", "v2"), ("--percent", "5"))],
        ("", ("--to", "v2", "--percent", "101"), "Invalid value for '--percent'"),
        *[("", ("--to", "v2", "--every", f"{one}"), f"--every {one} is not") for one in ("soon", "0s", "9999999h")],
        ("", ("--to", "v2", "--check", "luck"), "there is no check luck"),
        ("{to: v2, percent: 50}", ("--to", "v3"), "in a rollout already: v2 answers 50 %"),
        ("{to: v2, percent: 50, stable: v0}", ("--back",), "there is no version v0"),
    ],
)
def test_what_cannot_be_is_refused_and_the_file_stays(
    clone: Clone, engine: Engine, given: str, arguments: tuple[str, ...], problem: str
) -> None:
    if given:
        clone.add(f"      rollout: {given}\n")
    before = clone.file.read_text()
    done = rollout(clone, engine, *arguments)
    assert (done.returncode, engine.says("calls"), clone.file.read_text()) == (2, "", before)
    assert problem in done.stderr


def test_between_two_steps_a_second_rollout_is_refused_and_a_change_of_the_file_by_hand_is_the_last_word(
    clone: Clone, engine: Engine, others: Others, monkeypatch: pytest.MonkeyPatch
) -> None:
    second: list[Done] = []

    def meanwhile(_: float) -> None:
        second.append(rollout(clone, engine, "--to", "v2"))
        clone.edit("percent: 20", "percent: 0")

    monkeypatch.setattr(run, "sleep", meanwhile)
    first = rollout(clone, engine, "--to", "v2", "--step", "10")
    assert (first.returncode, said(clone)["percent"], engine.says("calls").count("up")) == (5, 0, 2)
    assert "Pulumi.one.yaml was changed since the last step" in first.stderr
    assert second[0].returncode == 5
    assert f"under way: process {os.getpid()}" in second[0].stderr
    assert rollout(clone, engine, "--back").returncode == 0


@pytest.mark.parametrize("deployed", [True, False])
def test_a_version_that_is_not_up_gets_no_requests(
    clone: Clone, engine: Engine, others: Others, deployed: bool
) -> None:
    others.ready.discard("qwen-v2")
    if not deployed:
        engine.left("qwen", stopped=False)
    done = rollout(clone, engine, "--to", "v2")
    assert (done.returncode, engine.says("calls"), said(clone)) == (7, "", {})
    assert "qwen-v2" in done.stderr


def test_ctrl_c_between_two_steps_leaves_a_sound_state_and_the_next_command(
    clone: Clone, engine: Engine, others: Others, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "sleep", interrupted)
    done = rollout(clone, engine, "--to", "v2", "--step", "10", "--every", "60s")
    assert done.returncode == 130
    assert said(clone)["percent"] == 10
    assert "rollout --model qwen --stack one --to v2 --percent 100 --step 10 --every 60s` completes it" in done.stderr
    assert "--back` undoes it" in done.stderr
