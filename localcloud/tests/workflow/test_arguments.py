"""The `pulumi` of the rehearsal's shell understands command lines as the engine does."""

from __future__ import annotations

import json
from hashlib import sha1
from itertools import pairwise
from pathlib import Path

import pytest

from llmd_gke.repository import CLONE
from localcloud.common.workdir import Workdir
from localcloud.workflow import arguments, pack, wrapper


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    made = Workdir(tmp_path / "project", tmp_path / "home")
    made.root.mkdir()
    for file in CLONE.glob("Pulumi*.yaml"):
        (made.root / file.name).write_text(file.read_text())
    (made.root / "policies").symlink_to(CLONE / "policies")
    made.home.mkdir()
    return made


def select(workdir: Workdir, stack: str) -> None:
    digest = sha1(str(workdir.root / "Pulumi.yaml").encode()).hexdigest()
    folder = workdir.pulumi_home / "workspaces"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"organization/llmd-gke/{stack}"
    (folder / f"llmd-gke-{digest}-workspace.json").write_text(json.dumps({"stacks": {"file:///x": name}}))


def prepared(workdir: Workdir, *command: str) -> tuple[list[list[str]], list[str]]:
    return wrapper.prepared(workdir, arguments.parse(["-C", str(workdir.root), *command]), {})


@pytest.mark.parametrize(
    ("line", "command", "stack", "folder"),
    [
        ("up --yes --stack local", "up", "local", None),
        ("-C /x preview -s eu4a --diff", "preview", "eu4a", "/x"),
        ("--cwd=/x up --stack=org/p/dev", "up", "org/p/dev", "/x"),
        ("--color never -v 9 destroy -slocal", "destroy", "local", None),
        ("stack output gatewayIp", "stack", None, None),
        ("--non-interactive refresh", "refresh", None, None),
        ("", "", None, None),
        ("up -- --stack not-ours", "up", None, None),
    ],
)
def test_subcommand_stack_and_folder_are_found(line: str, command: str, stack: str | None, folder: str | None) -> None:
    call = arguments.parse(line.split())
    assert (call.command, call.stack, call.folder) == (command, stack, folder)


@pytest.mark.parametrize("command", ["up", "update", "preview", "pre", "refresh", "destroy", "dn", "import", "watch"])
@pytest.mark.parametrize("arguments", [["--stack", "eu4a"], ["-s", "eu4a"], ["--stack=organization/llmd-gke/eu4a"]])
def test_commands_that_read_settings_get_the_copy(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch, command: str, arguments: list[str]
) -> None:
    monkeypatch.setenv("LLMD_GKE_CLOUD", "rehearsal")
    first, then = prepared(workdir, command, *arguments)
    assert first == []
    assert then[-2:] == ["--config-file", str(workdir.stack_copy("eu4a"))]
    assert workdir.stack_copy("eu4a").exists()


def test_the_selected_stack_counts_without_the_flag(workdir: Workdir) -> None:
    select(workdir, "local")
    assert prepared(workdir, "preview")[1][-1] == str(workdir.stack_copy("local"))


def test_without_a_stack_the_engine_says_itself_what_is_missing(workdir: Workdir) -> None:
    assert prepared(workdir, "preview")[1] == ["-C", str(workdir.root), "preview", *pack.flags(workdir)]


@pytest.mark.parametrize(
    "arguments",
    [["stack", "output"], ["stack", "ls"], ["version"], ["up", "--help"], ["state", "delete", "x"], ["cancel", "--yes"],
     ["refresh", "--config-file", "mine.yaml"], ["config", "set", "a", "b"]],
)  # fmt: skip
def test_everything_else_passes_through(workdir: Workdir, arguments: list[str]) -> None:
    select(workdir, "local")
    assert prepared(workdir, *arguments) == ([], ["-C", str(workdir.root), *arguments])


def packs(arguments: list[str]) -> list[str]:
    return [value for flag, value in pairwise(arguments) if flag == "--policy-pack"]


@pytest.mark.parametrize("command", ["up", "update", "preview", "pre", "watch"])
@pytest.mark.parametrize("arguments", [[], ["--stack", "eu4a"], ["--config-file", "mine.yaml"], ["--", "x"]])
def test_previews_and_updates_run_the_pack(workdir: Workdir, command: str, arguments: list[str]) -> None:
    assert packs(prepared(workdir, command, *arguments)[1]) == [str(workdir.root / "policies")]


@pytest.mark.parametrize("command", ["refresh", "destroy", "import"])
def test_commands_without_policies_are_left_alone(workdir: Workdir, command: str) -> None:
    assert packs(prepared(workdir, command, "--stack", "eu4a")[1]) == []


@pytest.mark.parametrize("given", [["--policy-pack", "policies"], ["--policy-pack=./policies/"]])
def test_the_pack_is_not_run_twice(workdir: Workdir, given: list[str]) -> None:
    then = prepared(workdir, "up", *given, "--config-file", "x")[1]
    assert then == ["-C", str(workdir.root), "up", *given, "--config-file", "x"]


def test_another_project_is_left_alone(workdir: Workdir, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "Pulumi.yaml").write_text("name: other\nruntime: yaml\n")
    command = ["-C", str(tmp_path / "other"), "up", "--stack", "local"]
    assert wrapper.prepared(workdir, arguments.parse(command), {}) == ([], command)


def test_secrets_are_set_in_the_copy(workdir: Workdir) -> None:
    then = prepared(workdir, "config", "set", "--secret", "llmd-gke:hfToken", "x", "--stack", "local")[1]
    assert then[-2:] == ["--config-file", str(workdir.stack_copy("local"))]


def test_removing_a_stack_keeps_the_committed_file(workdir: Workdir) -> None:
    assert prepared(workdir, "stack", "rm", "local", "--yes")[1][-1] == "--preserve-config"


def test_a_new_stack_writes_its_salt_beside_the_copies(workdir: Workdir) -> None:
    first, then = prepared(workdir, "stack", "init", "eu4a")
    assert first[0][-3:] == ["-C", str(workdir.config), "--no-select"]
    assert then == ["-C", str(workdir.root), "stack", "select", "eu4a"]
