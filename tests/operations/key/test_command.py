"""``llmd-gke key``, with an engine that notes what it is asked."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.operations.conftest import Clone
from tests.operations.support import Done, run

DOOR = """\
  llmd-gke:frontDoor: {callers: [{name: team-a}, {name: team-b}]}
"""
KEYS = "  llmd-gke:callerKeys: {%s}\n"
ENGINE = """\
#!/bin/sh
printf '%s\\n' "$@" > "$(dirname "$0")/arguments"
cat > "$(dirname "$0")/stdin"
"""


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engine")
    (folder / "pulumi").write_text(ENGINE)
    (folder / "pulumi").chmod(0o755)
    return folder


def key(clone: Clone, engine: Path, *arguments: str, keys: str = "") -> Done:
    clone.add(DOOR + (KEYS % keys if keys else ""))
    path = f"{engine}{os.pathsep}{os.environ['PATH']}"
    return run("key", *arguments, "--stack", "one", root=clone.root, environment={"PATH": path})


def asked(engine: Path) -> list[str]:
    return (engine / "arguments").read_text().splitlines()


CURRENT, NEXT = "team-a: {secure: v1:a}", "team-a.next: {secure: v1:n}"


def test_a_new_key_goes_to_the_engine_by_standard_input_and_is_shown_once(clone: Clone, engine: Path) -> None:
    done = key(clone, engine, "new", "team-a", "--output", "json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert len(printed["value"]) >= 32
    assert (engine / "stdin").read_text() == printed["value"]
    assert asked(engine)[3:7] == ["config", "set", "--secret", "--path"]
    assert 'llmd-gke:callerKeys["team-a"]' in asked(engine)
    assert printed["value"] not in " ".join(asked(engine)), "everyone on the machine sees arguments"
    assert printed["then"] == ["pulumi up --stack one --policy-pack policies"]


def test_another_caller_gets_a_first_key_while_settings_lack_it(clone: Clone, engine: Path) -> None:
    assert key(clone, engine, "new", "team-b", keys=CURRENT).returncode == 0


@pytest.mark.parametrize(("present", "made"), [(CURRENT, "team-a.next"), (NEXT, "team-a")])
def test_a_rotation_takes_the_name_that_is_free_and_says_what_to_revoke(
    clone: Clone, engine: Path, present: str, made: str
) -> None:
    done = key(clone, engine, "rotate", "team-a", "--output", "json", keys=present)
    printed = json.loads(done.stdout)
    assert printed["key"] == made
    assert printed["then"][-1] == f"llmd-gke key revoke {present.partition(':')[0]} --stack one"


def test_a_key_is_revoked_by_its_name(clone: Clone, engine: Path) -> None:
    done = key(clone, engine, "revoke", "team-a", keys=f"{CURRENT}, {NEXT}")
    assert done.returncode == 0, done.stderr
    assert asked(engine)[3:6] == ["config", "rm", "--path"]
    assert 'llmd-gke:callerKeys["team-a"]' in asked(engine)


def test_who_loses_the_last_key_needs_a_new_one_before_up_takes_the_old_one_away(clone: Clone, engine: Path) -> None:
    printed = json.loads(key(clone, engine, "revoke", "team-a", "--output", "json", keys=CURRENT).stdout)
    assert printed["then"] == ["llmd-gke key new team-a --stack one", "pulumi up --stack one --policy-pack policies"]
    assert asked(engine)[3:6] == ["config", "rm", "llmd-gke:callerKeys"], "an empty table is no secret"


@pytest.mark.parametrize(
    ("arguments", "keys", "message"),
    [
        (("new", "team-c"), "", "Allowed: team-a, team-b"),
        (("new", "team-a"), CURRENT, "key rotate team-a"),
        (("rotate", "team-a"), "", "key new team-a"),
        (("rotate", "team-a"), f"{CURRENT}, {NEXT}", "the one (team-a and team-a.next) that no client uses"),
        (("revoke", "team-b"), CURRENT, "Allowed: team-a"),
        (("new", "team-a"), "secure: v1:all", "one secret"),
    ],
)
def test_what_does_not_fit_the_stack_is_rejected_before_the_engine_is_asked(
    clone: Clone, engine: Path, arguments: tuple[str, ...], keys: str, message: str
) -> None:
    done = key(clone, engine, *arguments, keys=keys)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (engine / "arguments").exists()


def test_a_local_cloud_needs_no_keys() -> None:
    done = run("key", "new", "team-a", "--stack", "door")
    assert done.returncode == 2
    assert "rehearsal-dummy-key-of-the-caller-NAME" in done.stderr


def test_a_key_that_the_engine_cannot_set_is_a_failure(clone: Clone, engine: Path) -> None:
    (engine / "pulumi").write_text("#!/bin/sh\necho no passphrase >&2\nexit 1\n")
    done = key(clone, engine, "new", "team-a")
    assert done.returncode == 1
    assert "no passphrase" in done.stderr
    assert done.stdout == ""
