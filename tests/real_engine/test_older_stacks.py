"""Stacks that earlier code brought up: today's program changes them in place, and loses nothing.

``before_the_move`` is stack ``local`` as it was before the folders of the repository were moved and the namespaces of
the platform's controllers were closed: its state (exported with its made-up secrets), its clouds and its stack file.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from localcloud.common.workdir import cache_folder
from localcloud.pulumi_cli import resolve
from localcloud.workflow import commands, config, home
from tests.real_engine.harness import Rehearsal

OLD = Path(__file__).with_name("before_the_move")

IN_PLACE = {"same", "update", "read", "refresh"}


@pytest.fixture
def older(rehearsal: Rehearsal) -> Rehearsal:
    """The older stack in a rehearsal of its own, with today's program."""
    shutil.copy(OLD / "Pulumi.local.yaml", rehearsal.root)
    engine = resolve.ready(cache_folder())
    assert engine is not None
    home.prepare(rehearsal.workdir, engine)
    for name in ("google.json", "kubernetes.json"):
        shutil.copy(OLD / name, rehearsal.workdir.cloud)
    runner = rehearsal.runner()
    config.sync(rehearsal.workdir, "local", commands.secrets_of(rehearsal.workdir, "local"))
    commands.ensure_stack(runner, "local", select=True)
    # Its secrets are encrypted with the passphrase of this rehearsal.
    salt = yaml.safe_load(rehearsal.workdir.stack_copy("local").read_text())["encryptionsalt"]
    stored = json.loads((OLD / "state.json").read_text())
    stored["deployment"]["secrets_providers"] = {"type": "passphrase", "state": {"salt": salt}}
    file = rehearsal.folder / "state.json"
    file.write_text(json.dumps(stored))
    runner.ask("stack", "import", "--stack", "local", "--file", str(file))
    return rehearsal


def test_a_stack_of_earlier_code_keeps_every_resource_and_is_changed_in_place(older: Rehearsal) -> None:
    before = {
        one["urn"].rpartition("::")[2]
        for one in json.loads((OLD / "state.json").read_text())["deployment"]["resources"]
    }
    assert len(before) == 51
    steps = older.steps("preview")
    assert {name: steps.get(name, "gone") for name in before if steps.get(name) not in IN_PLACE} == {}


def test_an_update_of_such_a_stack_ends_well_and_the_next_one_changes_nothing(older: Rehearsal) -> None:
    older.up()
    steps = older.steps("preview")
    assert len(steps) > 51
    assert set(steps.values()) == {"same"}
