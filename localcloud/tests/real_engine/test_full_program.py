"""The product's own program on the real engine: what is made, what changes, what goes wrong and what is said then."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from llmd_gke.settings.validation import CLOUD_VARIABLE
from localcloud.workflow import home, state
from tests.real_engine.harness import Rehearsal
from tests.real_engine.test_program import resources


def model(config: dict[str, Any]) -> dict[str, Any]:
    return config["llmd-gke:models"][0]


def test_a_changed_server_argument_changes_the_runtime_config_only(running: Rehearsal) -> None:
    def smaller(config: dict[str, Any]) -> None:
        model(config).update(maxModelLen=4096)
        config["llmd-gke:pools"][0].update(updatesNeedStop=True)

    running.edit("local", smaller)
    steps = running.steps("preview")
    expected = {"qwen-tpu": "update", "qwen-rollout": "delete-replaced"}
    assert {name: step for name, step in steps.items() if step != "same"} == expected
    assert "has no spare host (updatesNeedStop)" in (running.folder / "events.jsonl").read_text()


def test_refresh_shows_what_somebody_changed_by_hand(running: Rehearsal) -> None:
    assert f"{resources()} unchanged" in running.pulumi("refresh", "--yes", "--stack", "local").stdout
    file = running.workdir.cloud / "kubernetes.json"
    text = file.read_text()
    assert '"timeoutSec": 600' in text
    file.write_text(text.replace('"timeoutSec": 600', '"timeoutSec": 30'))
    looking = ("refresh", "--preview-only", "--diff", "--expect-no-changes", "--stack", "local")
    failed = running.pulumi(*looking, check=False)
    assert "timeoutSec" in failed.stdout
    assert failed.returncode != 0


def test_nothing_is_made_again_whose_making_a_killed_engine_never_heard_of(running: Rehearsal) -> None:
    file = state.folder(running.workdir) / "local.json"
    content = json.loads(file.read_text())
    latest = content["checkpoint"]["latest"]
    needed: set[str] = set()  # by providers and components
    for one in reversed(latest["resources"]):
        if one["urn"] in needed or not one["type"].startswith(("gcp:", "kubernetes:")):
            needed |= {one["urn"], one.get("parent", ""), *one.get("dependencies", ())}
    unheard = [one for one in latest["resources"] if one["urn"] not in needed]
    latest["resources"] = [one for one in latest["resources"] if one["urn"] in needed]
    for one in unheard:
        del one["id"], one["outputs"]
    latest["pending_operations"] = [{"resource": one, "type": "creating"} for one in unheard]
    file.write_text(json.dumps(content))
    before = {*running.cloud()}
    output = running.up().stdout
    # The Deployment is KServe's: whether its patch was made is not asked, and to make it again changes nothing.
    assert output.count("was created, but the state lacked it") == len(unheard) - 1, output
    assert "qwen-rollout: was not created" in output
    assert {*running.cloud()} == before
    after = running.state()
    assert after is not None
    assert len(after.urns) == resources()


def test_a_stack_for_the_stand_ins_refuses_to_run_outside_of_them(rehearsal: Rehearsal) -> None:
    engine = rehearsal.runner().engine
    home.prepare(rehearsal.workdir, engine)
    environment = {key: value for key, value in os.environ.items() if key != CLOUD_VARIABLE}
    environment |= {
        "PULUMI_BACKEND_URL": f"file://{rehearsal.folder}/elsewhere",
        "PULUMI_HOME": str(rehearsal.workdir.pulumi_home),
        "PULUMI_CONFIG_PASSPHRASE": "somebody's",
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    (rehearsal.folder / "elsewhere").mkdir()
    subprocess.run(
        [str(engine.pulumi), "stack", "init", "local"],
        cwd=rehearsal.root,
        env=environment,
        check=True,
        capture_output=True,
    )
    done = subprocess.run(
        [str(engine.pulumi), "up", "--yes", "--non-interactive", "--stack", "local"],
        cwd=rehearsal.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "this stack is for the local stand-ins on this machine and must not be used with Google Cloud" in done.stdout
    assert rehearsal.cloud() == {}


def test_two_wrong_settings_are_named_together(rehearsal: Rehearsal) -> None:
    def spoil(config: dict[str, Any]) -> None:
        config["llmd-gke:cluster"]["zone"] = "europe-west4-b"
        model(config)["uri"] = "ftp://host/model"

    rehearsal.edit("local", spoil)
    done = rehearsal.up(check=False)
    assert done.returncode == 2
    assert "[tpu-zone]" in done.stdout
    assert "[model-uri]" in done.stdout
    assert not rehearsal.workdir.pulumi_home.exists()
