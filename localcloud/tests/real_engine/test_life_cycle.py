"""`make up`, `preview`, `down` and plain commands on the real engine."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from localcloud.workflow import state
from tests.real_engine.harness import Rehearsal


def saved(small: Rehearsal) -> list[dict[str, Any]]:
    """The resources in the state with their dependencies, by URN: the engine writes them in the order in which they
    came. Without times, and without texts that differ each time they are encrypted.
    """
    text = (state.folder(small.workdir) / "local.json").read_text()
    resources = json.loads(re.sub(r'"ciphertext":"[^"]*"', '"ciphertext":""', text))["checkpoint"]["latest"][
        "resources"
    ]
    resources = [{key: value for key, value in one.items() if key != "modified"} for one in resources]
    return sorted(resources, key=lambda one: str(one["urn"]))


def test_a_second_up_ends_with_its_preview_a_full_update_would_save_the_same_and_an_edited_setting_is_applied(
    small: Rehearsal,
) -> None:
    assert "+ 4 created" in small.up().stdout
    before = saved(small)
    again = small.up()
    assert "4 unchanged" in again.stdout
    assert "Nothing to update." in again.stdout
    assert "Updating" not in again.stdout
    full = small.make("up", "--always")
    assert "4 unchanged" in full.stdout.split("Updating")[1]
    assert saved(small) == before
    small.edit("local", lambda config: config["llmd-gke:models"][0].update(replicas=2))
    assert "- 1 deleted" in small.up().stdout
    assert len(small.cloud()) == 2


def test_a_second_up_shows_the_warnings_of_program_and_policies_that_its_preview_had(small: Rehearsal) -> None:
    program = small.workdir.root / "__main__.py"
    program.write_text(program.read_text() + "\nimport pulumi\n\npulumi.log.warn('look at this')\n")
    small.up()
    again = small.up().stdout
    assert "Nothing to update." in again
    assert "look at this" in again
    assert '{"result"' not in again, "what the engine prints is for programs"


def test_an_error_in_the_preview_of_a_second_up_is_shown_as_in_any_update(small: Rehearsal) -> None:
    program = small.workdir.root / "__main__.py"
    program.write_text(program.read_text() + "\nimport os\n\nassert 'BROKEN' not in os.environ, 'broken it is'\n")
    small.up()
    small.environ["BROKEN"] = "1"
    broken = small.up(check=False)
    assert broken.returncode == 1
    assert "broken it is" in broken.stdout
    del small.environ["BROKEN"]
    assert "Nothing to update." in small.up().stdout


def test_an_output_that_differs_each_time_is_saved_each_time(small: Rehearsal) -> None:
    program = small.workdir.root / "__main__.py"
    program.write_text(program.read_text() + "\nimport uuid\n\npulumi.export('unique', str(uuid.uuid4()))\n")
    seen: set[object] = set()
    for _ in range(2):
        assert "Updating" in small.up().stdout
        present = small.state()
        assert present is not None
        seen.add(present.outputs["unique"])
    assert len(seen) == 2


def test_the_worktree_stays_clean(small_running: Rehearsal) -> None:
    small = small_running
    assert small.worktree() == "", "after the first up"
    small.preview("eu4a")
    small.pulumi("stack", "select", "local")
    small.pulumi("preview")
    small.pulumi("refresh", "--yes", "--skip-preview")
    small.pulumi("config", "set", "--secret", "llmd-gke:hfToken", "token-of-a-test")
    small.down()
    assert small.worktree() == ""
    assert "encryptionsalt" not in small.workdir.stack_file("local").read_text()


def test_logs_are_written_and_debug_messages_sent_only_where_they_are_asked_for_and_plans_are_the_same(
    small_running: Rehearsal,
) -> None:
    small = small_running
    folder = small.workdir.pulumi_home / "logs"
    small.edit("local", lambda config: config["llmd-gke:models"][0].update(replicas=2))
    planned = small.steps("preview")
    assert planned["ip1"] == "delete"
    assert folder.is_file()
    folder.unlink()
    folder.mkdir()
    small.make("env")
    assert small.steps("preview") == planned
    assert list(folder.iterdir())
    small.environ["LLMD_GKE_SDK_DEBUG"] = "1"
    assert small.steps("preview") == planned


def test_a_preview_of_another_stack_leaves_what_is_up_alone(small: Rehearsal) -> None:
    small.up()
    before, there = small.state(), small.cloud()
    assert "+ 4 to create" in small.preview("eu4a").stdout
    assert small.state() == before
    assert small.cloud() == there
    assert "4 unchanged" in small.pulumi("preview").stdout, "the selected stack is still local"


def test_plain_commands_behave_as_ever(small_running: Rehearsal) -> None:
    small = small_running
    small.pulumi("stack", "select", "local")
    assert small.pulumi("stack", "output", "address").stdout.count(".") == 3
    assert "4 unchanged" in small.pulumi("preview").stdout
    assert "4 unchanged" in small.pulumi("up", "--yes", "-s", "local").stdout
    assert "4 unchanged" in small.pulumi("-C", str(small.root), "refresh", "--yes", "--stack=local").stdout
    assert "- 4 deleted" in small.pulumi("destroy", "--yes", "--skip-preview").stdout
    assert small.cloud() == {}


def test_down_leaves_nothing(small_running: Rehearsal) -> None:
    small = small_running
    small.preview("eu4a")
    assert "Nothing is left" in small.down().stdout
    assert small.cloud() == {}
    assert small.state() is None
    assert small.state("eu4a") is None
    assert small.processes() == []


@pytest.mark.parametrize(("command", "content"), [("up", None), ("preview", None), ("up", "config: [unclosed")])
def test_a_stack_file_that_is_missing_or_cannot_be_read_is_named(
    small: Rehearsal, command: str, content: str | None
) -> None:
    if content:
        small.workdir.stack_file("nowhere").write_text(content)
    done = small.make(command, "--stack", "nowhere", check=False)
    assert done.returncode == 2
    assert "Pulumi.nowhere.yaml" in done.stdout
    assert content or "eu4a" in done.stdout
    assert "Traceback" not in done.stdout
    assert not (small.workdir.state / ".pulumi").exists()


def test_a_failing_program_fails_up_and_the_next_up_goes_on(small: Rehearsal) -> None:
    good = (small.root / "__main__.py").read_text()
    small.program(good + "\nraise RuntimeError('deliberate')\n")
    done = small.up(check=False)
    assert done.returncode == 1
    assert "RuntimeError: deliberate" in done.stdout
    small.program(good)
    assert "created" in small.up().stdout


def test_a_secret_that_was_set_in_the_shell_can_be_removed_there(small: Rehearsal) -> None:
    small.preview()
    small.pulumi("stack", "select", "local")
    small.pulumi("config", "set", "--secret", "llmd-gke:hfToken", "token-of-a-test")
    assert "hfToken" in small.pulumi("config").stdout
    small.pulumi("config", "rm", "llmd-gke:hfToken")
    assert "hfToken" not in small.pulumi("config").stdout
    assert small.worktree() == ""
