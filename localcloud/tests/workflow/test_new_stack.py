"""`make new STACK=demo`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from llmd_common.problems import BadInput
from llmd_gke.repository import CLONE
from llmd_gke.settings import load_stack
from localcloud.workflow import new_stack


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copy(CLONE / "Pulumi.dev.yaml", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "cluster"), [("demo", "llmd-demo"), ("My.Team_" + "x" * 40, "llmd-my-team-xxxxxxxxxxx")]
)
def test_it_is_a_valid_stack_under_its_own_name(root: Path, name: str, cluster: str) -> None:
    message = new_stack.write(root, name)
    assert load_stack(root, name).settings.cluster.name == cluster
    text = (root / f"Pulumi.{name}.yaml").read_text()
    assert text.startswith("# yaml-language-server: ")
    assert "dev" not in text
    assert f"make preview STACK={name}" in message


def test_it_has_a_front_door_and_says_how_its_caller_gets_a_key(root: Path) -> None:
    message = new_stack.write(root, "demo")
    door = load_stack(root, "demo").settings.front_door
    assert door is not None
    assert [caller.name for caller in door.callers] == ["trial"]
    assert "llmd-gke key new trial --stack demo" in message
    assert load_stack(root, "dev").settings.front_door is None, "the stack file that is copied stays as it is"


def test_what_exists_is_never_written_over(root: Path) -> None:
    before = (root / "Pulumi.dev.yaml").read_text()
    with pytest.raises(BadInput, match=r"Pulumi\.dev\.yaml already exists"):
        new_stack.write(root, "dev")
    assert (root / "Pulumi.dev.yaml").read_text() == before


def test_a_name_that_no_stack_can_have_is_refused_with_the_nearest_that_one_can(root: Path) -> None:
    with pytest.raises(
        BadInput, match=r"is not a stack name\. Allowed: at most 100 letters[^\n]*\nFix: make new STACK=my-demo$"
    ):
        new_stack.write(root, "../my demo")
    assert sorted(file.name for file in root.iterdir()) == ["Pulumi.dev.yaml"]


def test_make_up_on_google_is_answered_with_the_way_to_it() -> None:
    command = ["make", "--no-print-directory", "up", "CLOUD=google", "STACK=eu4a"]
    done = subprocess.run(command, cwd=CLONE, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "make up never reaches Google Cloud" in done.stderr
    assert "pulumi up --stack eu4a --policy-pack policies" in done.stderr
