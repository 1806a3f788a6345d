"""``llmd-gke upgrade`` on a stack that an older release brought up: the plan, a stop at a failure, and the rest."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from llmd_gke.repository import CLONE
from tests.real_engine.harness import APIS_ON, Rehearsal

OLDER = {'"v1.21.2"': '"v1.20.0"', 'version = "0.9.0"': 'version = "0.8.0"', 'tag = "v0.9.0"': 'tag = "v0.8.0"'}
"""Of cert-manager, LeaderWorkerSet and the endpoint picker."""


def upgrade(rehearsal: Rehearsal, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "operations", "upgrade", "--stack", "local", "--cloud", "rehearsal", *arguments]
    environment = rehearsal.environment
    return subprocess.run(command, cwd=rehearsal.root, env=environment, capture_output=True, text=True, check=False)


def planned(rehearsal: Rehearsal) -> dict[str, tuple[str, str]]:
    steps: list[dict[str, Any]] = json.loads(upgrade(rehearsal, "--output", "json").stdout)["steps"]
    return {one["component"]: (one["from"], one["to"]) for one in steps}


def test_an_upgrade_goes_in_order_stops_at_a_failure_and_goes_on_there(running: Rehearsal) -> None:
    (running.root / "Makefile").symlink_to(CLONE / "Makefile")
    assert "nothing to upgrade" in upgrade(running, "--apply").stdout
    assert upgrade(running, "--stack", "door").returncode == 7  # no state

    with running.released_with(OLDER):
        running.up()
    wanted = {"cert-manager": ("v1.20.0", "v1.21.2"), "lws": ("0.8.0", "0.9.0"), "picker": ("v0.8.0", "v0.9.0")}
    assert list(planned(running).items()) == list(wanted.items())

    assert "Walked: LeaderWorkerSet 0.8.0 to 0.9.0" in upgrade(running).stdout
    refused = upgrade(running, "--apply")
    assert refused.returncode == 4
    crds = "helm show crds oci://registry.k8s.io/lws/charts/lws --version 0.9.0 | kubectl apply --server-side"
    assert crds in refused.stderr
    assert planned(running) == wanted

    running.faults({**APIS_ON, "chartsAway": ["lws"]})
    stopped = upgrade(running, "--apply", "--crds", "lws")
    assert stopped.returncode == 1
    assert "cert-manager upgraded; LeaderWorkerSet 0.8.0 to 0.9.0 is under way, but the update failed" in stopped.stderr
    assert "i/o timeout" in stopped.stderr
    assert "llmd-gke upgrade --stack local --apply --crds lws` goes on there" in stopped.stderr
    assert [*planned(running)] == ["lws", "picker"]

    running.faults(APIS_ON)
    done = upgrade(running, "--apply", "--crds", "lws")
    assert done.returncode == 0, done.stderr
    assert planned(running) == {}
    assert {*running.steps("preview").values()} == {"same"}
