"""The `pulumi` of a local cloud's shell understands command lines as the engine does.

``real_engine/test_life_cycle.py`` and ``test_policies.py`` run such lines on the engine.
"""

from __future__ import annotations

import json
from hashlib import sha1
from itertools import pairwise
from pathlib import Path

import pytest

from llmd_gke.repository import CLONE
from localcloud.common.workdir import Workdir
from localcloud.workflow import arguments, wrapper


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    """A project whose selected stack is `local`."""
    made = Workdir(tmp_path / "project", tmp_path / "home")
    made.root.mkdir()
    for file in CLONE.glob("Pulumi*.yaml"):
        (made.root / file.name).write_text(file.read_text())
    (made.root / "policies").symlink_to(CLONE / "policies")
    digest = sha1(str(made.root / "Pulumi.yaml").encode()).hexdigest()
    folder = made.pulumi_home / "workspaces"
    folder.mkdir(parents=True)
    selected = {"stacks": {"file:///x": "organization/llmd-gke/local"}}
    (folder / f"llmd-gke-{digest}-workspace.json").write_text(json.dumps(selected))
    return made


def prepared(workdir: Workdir, line: str) -> tuple[list[list[str]], list[str]]:
    return wrapper.prepared(workdir, arguments.parse(["-C", str(workdir.root), *line.split()]), {})


@pytest.mark.parametrize(
    ("line", "stack", "runs_pack"),
    [
        ("up --yes --stack eu4a", "eu4a", True),
        ("update -s eu4a --diff", "eu4a", True),
        ("--color never -v 9 preview --stack=organization/llmd-gke/eu4a", "eu4a", True),
        ("pre", "local", True),
        ("watch", "local", True),
        ("up --config-file mine.yaml", None, True),
        ("up --policy-pack policies", "local", False),
        ("up --policy-pack=./policies/ --config-file mine.yaml", None, False),
        ("--non-interactive refresh", "local", False),
        ("destroy -seu4a", "eu4a", False),
        ("dn -s eu4a", "eu4a", False),
        ("import --stack eu4a", "eu4a", False),
        ("config set --secret llmd-gke:hfToken x", "local", False),
        ("config set a b", None, False),
        ("stack output gatewayIp", None, False),
        ("state delete x", None, False),
        ("up --help", None, False),
        ("", None, False),
    ],
)
def test_a_command_gets_the_copy_of_its_stacks_settings_and_the_pack_where_it_uses_them(
    workdir: Workdir, line: str, stack: str | None, runs_pack: bool
) -> None:
    first, then = prepared(workdir, line)
    assert first == []
    given = list(pairwise(then[len(line.split()) + 2 :]))
    copy = workdir.stack_copy(stack) if stack else None
    assert [value for flag, value in given if flag == "--config-file"] == ([str(copy)] if copy else [])
    assert copy is None or copy.exists()
    packs = [value for flag, value in given if flag == "--policy-pack"]
    assert packs == ([str(workdir.root / "policies")] if runs_pack else [])


def test_another_project_is_left_alone(workdir: Workdir, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "Pulumi.yaml").write_text("name: other\nruntime: yaml\n")
    command = [f"--cwd={tmp_path / 'other'}", "up", "--stack", "local"]
    assert wrapper.prepared(workdir, arguments.parse(command), {}) == ([], command)


def test_what_follows_two_dashes_names_no_stack_and_no_pack(workdir: Workdir) -> None:
    _, then = prepared(workdir, "up -- --stack eu4a --policy-pack policies")
    assert {str(workdir.stack_copy("local")), str(workdir.root / "policies")} <= {*then[: then.index("--")]}


def test_removing_a_stack_keeps_the_committed_file_and_a_new_one_writes_its_salt_beside_the_copies(
    workdir: Workdir,
) -> None:
    assert prepared(workdir, "stack rm local --yes")[1][-1] == "--preserve-config"
    first, then = prepared(workdir, "stack init eu4a")
    assert first[0][-3:] == ["-C", str(workdir.config), "--no-select"]
    assert then == ["-C", str(workdir.root), "stack", "select", "eu4a"]
