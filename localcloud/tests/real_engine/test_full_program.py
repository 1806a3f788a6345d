"""The product's own program on the real engine: what is made, what changes, what goes wrong and what is said then."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from typing import Any

import pytest

from llmd_gke.graph.recording import load
from llmd_gke.repository import CLONE
from llmd_gke.settings.validation import CLOUD_VARIABLE
from localcloud.workflow import home, processes, state
from tests.real_engine.harness import Rehearsal, until


@cache
def resources() -> int:
    """What stack ``local`` consists of, by its recorded graph; with the stack itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CLOUD_VARIABLE, "rehearsal")
        return len(load(CLONE, "local").nodes)


def kinds(rehearsal: Rehearsal) -> list[str]:
    return sorted(str(entry.get("type")) for entry in rehearsal.cloud().values())


def model(config: dict[str, Any]) -> dict[str, Any]:
    return config["llmd-gke:models"][0]


def creations(rehearsal: Rehearsal) -> list[str]:
    made = [c for c in rehearsal.calls() if c["method"] == "Create" and not c.get("preview")]
    of_google = [f"{one['path']} {one['body'].get('name')}" for one in rehearsal.requests("compute.*.insert")]
    return [str(call["urn"]) for call in made if call["outcome"] == "ok"] + of_google


def test_another_number_of_replicas_changes_the_service_and_nothing_else(running: Rehearsal) -> None:
    running.edit("local", lambda config: model(config).update(replicas=2))
    steps = running.steps("up", "--yes", "--skip-preview")
    # The stack's outputs (chips, price) follow, its resource stays the same.
    assert {name: step for name, step in steps.items() if step != "same"} == {"qwen-service": "update"}


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


def test_a_killed_engine_makes_nothing_twice_with_the_whole_program(rehearsal: Rehearsal) -> None:
    rehearsal.google_faults({"fault": "slow", "method": "container.*.clusters.create", "seconds": 20})
    with rehearsal.started("up", "--stack", "local"):
        until(lambda: "gcp:container/cluster:Cluster" in kinds(rehearsal), "the cluster is being made")
        for engine in processes.engines(rehearsal.workdir):
            engine.kill()
        until(lambda: not rehearsal.processes(), "the killed engine's children end")
    rehearsal.google_faults()
    rehearsal.up()
    assert kinds(rehearsal).count("gcp:container/cluster:Cluster") == 1
    # Everything but the cluster whose answer the killed engine never heard was created exactly once.
    made = creations(rehearsal)
    assert len(made) == len(set(made))
    after = rehearsal.state()
    assert after is not None
    assert after.pending == ()
    assert len(after.urns) == resources()
    google = {ident: str(entry["type"]) for ident, entry in rehearsal.cloud().items()}
    # An API that is on is no object of the state's, and NAT has another id there.
    others = ("gcp:projects/service:Service", "gcp:compute/routerNat:RouterNat")
    ours = {ident for ident, kind in google.items() if kind.startswith("gcp:") and kind not in others}
    # GKE makes the default pool with the cluster; the provider that would have removed it was killed.
    assert [ident.rpartition("/")[2] for ident in ours - {*after.ids}] == ["default-pool"]


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
