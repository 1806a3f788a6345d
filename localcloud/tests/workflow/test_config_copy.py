"""The copy of a stack file: committed settings, the rehearsal's own salt, no foreign secrets."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from llmd_common.problems import BadInput
from localcloud.common.workdir import Workdir
from localcloud.workflow.config import DUMMY, check_name, merged, sync

SALT = {"encryptionsalt": "v1:ours"}


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    return Workdir(tmp_path, tmp_path / "home")


def test_secrets_of_another_backend_become_dummies_at_any_depth() -> None:
    secret = {"secure": "v1:ciphertext"}
    committed = {
        "secretsprovider": "gcpkms://projects/p",
        "encryptedkey": "k",
        "environment": ["org/env"],
        "config": {"a:token": secret, "a:list": [{"deep": secret}], "a:plain": {"secure": "x", "more": 1}},
    }
    assert merged(committed, {}, []) == {
        "config": {"a:token": DUMMY, "a:list": [{"deep": DUMMY}], "a:plain": {"secure": "x", "more": 1}}
    }


def test_a_secret_that_the_file_lacks_gets_a_dummy_only_when_it_is_required() -> None:
    assert merged({"config": {}}, {}, ["a:token"])["config"] == {"a:token": DUMMY}
    assert merged({"config": {"a:token": "given"}}, {}, ["a:token"])["config"] == {"a:token": "given"}


def test_a_secret_that_was_set_in_the_rehearsal_is_kept() -> None:
    ours = {**SALT, "config": {"a:token": {"secure": "v1:by-us"}}}
    assert merged({"config": {}}, ours, ["a:token"])["config"] == {"a:token": {"secure": "v1:by-us"}}
    theirs = {"config": {"a:token": {"secure": "v1:theirs"}}}
    assert merged(theirs, ours, [])["config"] == {"a:token": {"secure": "v1:by-us"}}


def test_the_copy_is_written_for_its_owner_only_and_the_original_is_not_touched(workdir: Workdir) -> None:
    original = workdir.stack_file("local")
    original.write_text("# a comment\nconfig:\n  a:b: 1\n")
    sync(workdir, "local")
    copy = workdir.stack_copy("local")
    assert copy.stat().st_mode & 0o777 == 0o600
    copy.write_text(yaml.safe_dump({**SALT, "config": {}}))
    original.write_text("config:\n  a:b: 2\n")
    sync(workdir, "local")
    assert yaml.safe_load(copy.read_text()) == {"config": {"a:b": 2}, **SALT}
    assert original.read_text() == "config:\n  a:b: 2\n"


@pytest.mark.parametrize("name", ["", "../x", "a/b", "-x", "a b"])
def test_what_cannot_be_a_stack_name_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="not a stack name"):
        check_name(name)
