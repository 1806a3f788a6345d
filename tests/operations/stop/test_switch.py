"""``llmd-gke stop`` and ``start``, with an engine that answers from files and notes what it is asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.operations.conftest import Clone
from tests.operations.engine import Engine
from tests.operations.support import ROOT, Done, run


def call(clone: Clone, engine: Engine, verb: str, *arguments: str) -> Done:
    return run(verb, "--stack", "one", *arguments, root=clone.root, environment=engine.environment)


def test_a_stop_writes_the_file_before_the_update_and_says_how_to_start_again(clone: Clone, engine: Engine) -> None:
    before = clone.file.read_text()
    file = clone.file
    real = file.rename(clone.root / "real.yaml")
    real.chmod(0o640)
    file.symlink_to(real.name)
    done = call(clone, engine, "stop", "--yes", "--output", "json")
    assert done.returncode == 0, done.stderr
    assert (file.is_symlink(), real.stat().st_mode & 0o777) == (True, 0o640)  # rights and a link stay
    assert clone.file.read_text() == engine.says("file") == before.replace("name: qwen", "name: qwen, stopped: true")
    assert engine.says("calls").split()[:2] == ["up", "--yes"]
    printed = json.loads(done.stdout)
    assert (printed["model"], printed["stopped"], printed["changed"]) == ("qwen", True, True)
    assert "this is the up" in Path(printed["log"]).read_text()


def test_people_read_how_long_the_start_takes_and_which_hosts_still_cost(clone: Clone, engine: Engine) -> None:
    entries = "{kind: on-demand, minNodes: 2}, {kind: on-demand, zone: us-east5-a}, {kind: spot, minNodes: 1}"
    clone.write(more=f", capacity: [{entries}]")
    text = call(clone, engine, "stop", "--yes").stdout
    assert "llmd-gke start --model qwen --stack one" in text
    assert "min later" in text
    assert "Pool pool-on-demand keeps its minNodes of 2, which cost as before." in text
    assert "Fix: minNodes: 0 in capacity[0] of pool pool" in text
    assert "Pool pool-spot keeps its minNodes of 1, which cost as before." in text
    assert "Fix: minNodes: 0 in capacity[2] of pool pool" in text
    assert text.count("which cost as before") == 2


def test_a_start_takes_the_switch_back(clone: Clone, engine: Engine) -> None:
    engine.left(stopped=True)
    clone.edit("name: qwen", "name: qwen, stopped: true")
    done = call(clone, engine, "start", "--yes")
    assert done.returncode == 0, done.stderr
    assert "stopped: false" in clone.file.read_text()
    assert "qwen serves" in done.stdout


def test_a_start_does_not_claim_that_a_model_serves_which_may_have_no_server(clone: Clone, engine: Engine) -> None:
    engine.left(stopped=True)
    bounds = "minReplicas: 1, maxReplicas: 2, scaling: {idleAfterSeconds: 7200}, stopped: true"
    clone.edit("replicas: 3", bounds)
    done = call(clone, engine, "start", "--yes")
    assert done.returncode == 0, done.stderr
    assert "qwen is no longer stopped" in done.stdout
    assert "serves" not in done.stdout


@pytest.mark.parametrize(("verb", "stopped"), [("start", False), ("stop", True)])
def test_a_model_that_is_so_already_is_left_alone(clone: Clone, engine: Engine, verb: str, stopped: bool) -> None:
    engine.left(stopped=stopped)
    if stopped:
        clone.edit("name: qwen", "name: qwen, stopped: true")
    before = clone.file.read_text()
    done = call(clone, engine, verb)
    assert (done.returncode, engine.says("calls"), clone.file.read_text()) == (0, "", before)
    assert "already: nothing was changed" in done.stdout


@pytest.mark.parametrize(("stopped", "result"), [(True, "succeeded"), (False, "failed"), (False, "in-progress")])
def test_an_update_runs_where_the_cloud_is_not_as_the_file_says(
    clone: Clone, engine: Engine, stopped: bool, result: str
) -> None:
    engine.left(stopped=stopped, result=result)
    assert call(clone, engine, "start", "--yes").returncode == 0
    assert engine.says("calls").startswith("up")


@pytest.mark.parametrize("written", ["", ", stopped: true"], ids=["a running model", "a stopped model"])
@pytest.mark.parametrize("arguments", [("start", "--yes"), ("stop", "--yes"), ("stop",)])
def test_a_stack_that_is_not_up_is_not_created(
    clone: Clone, engine: Engine, arguments: tuple[str, ...], written: str
) -> None:
    (engine.folder / "output.json").unlink()
    clone.edit("name: qwen", f"name: qwen{written}")
    before = clone.file.read_text()
    done = call(clone, engine, *arguments)
    assert (done.returncode, engine.says("calls"), clone.file.read_text()) == (7, "", before)


def test_one_of_several_models_has_to_be_named(clone: Clone, engine: Engine) -> None:
    other = '    - {name: other, uri: "hf://Qwen/Qwen3-4B", pool: pool, replicas: 1, stopped: true}\n'
    clone.add(other)
    done = call(clone, engine, "stop", "--yes")
    assert done.returncode == 2
    assert "Allowed for --model: qwen, other" in done.stderr
    assert call(clone, engine, "stop", "--yes", "--model", "qwen").returncode == 0


def test_a_start_without_room_is_refused_and_leaves_the_file(clone: Clone, engine: Engine) -> None:
    clone.write(most=2)
    clone.edit("name: qwen", "name: qwen, stopped: true")
    before = clone.file.read_text()
    done = call(clone, engine, "start", "--yes")
    assert (done.returncode, clone.file.read_text()) == (2, before)
    assert "maxNodes" in done.stderr
    assert "is unchanged" in done.stderr


def test_nothing_happens_without_consent(clone: Clone, engine: Engine) -> None:
    before = clone.file.read_text()
    done = call(clone, engine, "stop")
    assert (done.returncode, engine.says("calls"), clone.file.read_text()) == (4, "", before)
    assert "--yes" in done.stderr


def test_ctrl_c_during_the_update_leaves_what_was_asked_for_and_says_how_to_go_on(clone: Clone, engine: Engine) -> None:
    (engine.folder / "interrupts").touch()
    done = subprocess.run(
        [sys.executable, "-m", "operations", "stop", "--yes", "--stack", "one"],
        cwd=ROOT,
        env={**os.environ, **engine.environment, "LLMD_GKE_ROOT": str(clone.root)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 130, done.stderr
    assert "stopped: true" in clone.file.read_text()
    assert "`llmd-gke stop --model qwen --stack one` completes it" in done.stderr
    assert "`llmd-gke start --model qwen --stack one` undoes it" in done.stderr
    assert [one.name for one in clone.root.iterdir() if one.name.startswith(".Pulumi")] == []
