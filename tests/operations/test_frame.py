"""What all commands share: the entry, its help, exit statuses, and which stack and state a command is about."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from operations import cli
from operations.exits import MEANINGS, BadInput, Exit
from operations.options import Cloud
from operations.target import Target
from tests.operations.conftest import Clone
from tests.operations.support import ROOT, run


def test_every_command_is_listed_and_has_help_of_its_own() -> None:
    listed = run("--help")
    assert listed.returncode == 0
    for name, line in cli.COMMANDS.items():
        assert name in listed.stdout
        assert line.split(".")[0][:30] in listed.stdout
        called = run(name, "--help")
        assert called.returncode == 0, called.stderr
        for option in ("--stack", "--output"):
            assert option in called.stdout, name


def test_every_exit_status_is_explained_in_the_help_and_in_the_page() -> None:
    shown = " ".join(run("--help", environment={"COLUMNS": "4000"}).stdout.split())
    page = (ROOT / "docs" / "operations.md").read_text()
    assert set(MEANINGS) == set(Exit)
    for status, meaning in MEANINGS.items():
        assert f"{status.value} {meaning}" in shown
        assert f"| {status.value} | {meaning} |" in page


def test_an_unknown_command_is_a_wrong_call() -> None:
    done = run("no-such-command")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no-such-command" in done.stderr


TOLD_WRONGLY = {
    "cost one": "Fix: llmd-gke cost --stack one",
    "one cost": "Fix: llmd-gke cost --stack one",
    "--stack one cost": "Fix: llmd-gke cost --stack one",
    "-s one cost": "Fix: llmd-gke cost -s one",
    "cost --Stack one": "Fix: llmd-gke cost --stack one",
    "stop -model qwen": "Fix: llmd-gke stop --model qwen",
    "stop --yes qwen --stack one": "Fix: llmd-gke stop --yes --model qwen --stack one",
    "cost --stack one two": "Fix: llmd-gke cost --stack one\n",
    "cost -s one json": "Fix: llmd-gke cost -s one\n",
    "comment one two": "Fix: llmd-gke comment --stack one --stack two\n",
    "key revoke x --stack one --cloud rehearsal": "or: llmd-gke key revoke x --stack one --cloud google\n",
    "start one": "Fix: llmd-gke start --stack one",
    "upgrade --stack one --crds kserve": "Allowed: lws.\nFix: --crds lws",
    "bench qwen --stack one": "Fix: llmd-gke bench --model qwen",
    "smoke --stack one --url x --model qwen": "Fix: http://x",
    **{
        f"{command} --model nope --stack one{more}": "Allowed for --model: qwen.\nFix: --model qwen"
        for command, more in {
            "ask": "",
            "bench": " --cloud laptop",
            "rollout": " --to v2",
            "smoke": " --cloud laptop",
            "start": "",
            "stop": " --cloud rehearsal",
        }.items()
    },
    **{
        f"{command} --stack nope{cloud}": "Pulumi.nope.yaml does not exist"
        for command in (
            *("alerts", "ask", "bench", "cost", "dashboard", "destroy", "doctor", "graph", "key new x", "live", "logs"),
            *("rollout --back", "smoke", "start", "status", "stop", "timeline", "upgrade", "usage"),
        )
        for cloud in ("", " --cloud rehearsal")
    },
}
"""Calls with a stack or model in the wrong place, or one that there is not, and what the message must say."""


@pytest.mark.parametrize("call", TOLD_WRONGLY)
def test_a_stack_or_model_that_is_wrong_or_in_the_wrong_place_is_named_with_the_right_call(
    clone: Clone, call: str
) -> None:
    done = run(*call.split(), root=clone.root)
    assert done.returncode == 2
    assert TOLD_WRONGLY[call] in done.stderr
    assert re.search(r"^(Fix|    fix): ", done.stderr, re.MULTILINE)


@pytest.mark.parametrize("command", ["ask", "bench", "smoke"])
def test_a_model_that_the_settings_leave_without_servers_is_named_with_what_starts_it(
    clone: Clone, command: str
) -> None:
    clone.write(more="", replicas="3, stopped: true")
    done = run(command, "--stack", "one", "--cloud", "laptop", root=clone.root)
    assert done.returncode == Exit.NOT_UP
    assert "qwen is stopped by its settings" in done.stderr
    assert "Fix: llmd-gke start --model qwen --stack one" in done.stderr


def test_a_wrong_option_is_not_taken_for_a_stack_in_the_wrong_place(clone: Clone) -> None:
    assert "Fix:" not in run("cost", "--stack", "one", "--colour", root=clone.root).stderr


def without_age(errors: str) -> list[str]:
    """The lines without the note about an old price table, which comes with time and not with the code."""
    return [line for line in errors.splitlines() if not line.startswith("The price table is of ")]


def test_calling_one_command_imports_no_other() -> None:
    code = (
        "import sys; from operations import cli\n"
        "cli.main(['cost', '--stack', 'eu4a', '--output', 'json'])\n"
        "print(*[one for one in map(cli.module_of, cli.COMMANDS) if one in sys.modules], file=sys.stderr)\n"
        "print(*[name for name in ('pulumi', 'httpx', 'google') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert without_age(done.stderr) == ["operations.cost.command", ""]


def test_the_project_of_the_stack_file_decides_where_the_stack_lives(clone: Clone) -> None:
    assert Target.choose("one", root=clone.root).cloud is Cloud.GOOGLE
    clone.edit("my-project", "rehearsal")
    assert Target.choose("one", root=clone.root).cloud is Cloud.REHEARSAL
    assert Target.choose("one", Cloud.LAPTOP, root=clone.root).cloud is Cloud.LAPTOP


def test_clouds_of_this_machine_keep_their_state_apart(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLMD_GKE_HOME", raising=False)
    homes = {cloud: Target("one", cloud, clone.root).workdir.home for cloud in (Cloud.REHEARSAL, Cloud.LAPTOP)}
    assert homes == {Cloud.REHEARSAL: clone.root / ".rehearsal", Cloud.LAPTOP: clone.root / ".laptop"}


def test_a_command_in_the_shell_of_one_cloud_finds_the_home_of_the_other(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLMD_GKE_CLOUD", "rehearsal")
    monkeypatch.setenv("LLMD_GKE_HOME", str(clone.root / ".rehearsal"))
    target = Target("one", Cloud.LAPTOP, clone.root)
    before = target.workdir.home
    assert target.settings  # reading them says by the environment which cloud is meant
    assert target.workdir.home == before == clone.root / ".laptop"


def test_a_stack_without_a_file_is_wrong_input_and_the_others_are_named(clone: Clone) -> None:
    with pytest.raises(BadInput, match=r"(?s)Pulumi\.two\.yaml does not exist.*one"):
        Target.choose("two", root=clone.root)


@pytest.mark.parametrize("entry", [["-m", "operations"], [str(Path(sys.executable).with_name("llmd-gke"))]])
def test_the_module_and_the_script_are_the_same_command(entry: list[str], tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *entry, "cost", "--stack", "eu4a", "--output", "json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["stack"] == "eu4a"
