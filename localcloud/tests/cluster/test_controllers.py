"""For what an update waits before it goes on once: the platform's controllers, and nothing else."""

from __future__ import annotations

import io
import json
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace

import pytest
from rich.console import Console

from localcloud.cluster import controllers
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover

CONTROLLERS = ["cert-manager/cert-manager-webhook", "lws-system/lws-controller-manager", "kserve/llmisvc-controller"]
MODEL = "models/qwen-kserve-router-scheduler"
LATE = "error: timed out waiting for the condition on deployments/llmisvc-controller"


@pytest.mark.parametrize("late", ["", LATE])
def test_a_controller_that_does_not_come_back_is_said_and_no_models_deployment_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    def kubectl(_workdir: Workdir, verb: str, *_: str, stdin: str = "") -> CompletedProcess[str]:
        if verb == "get":
            listed = [{"metadata": dict(zip(("namespace", "name"), key.split("/"), strict=True))} for key in there]
            return CompletedProcess((), 0, json.dumps({"items": listed}), "")
        names = (one["metadata"] for one in json.loads(stdin)["items"])
        assert [f"{one['namespace']}/{one['name']}" for one in names] == CONTROLLERS
        return CompletedProcess((), int(bool(late)), "", late)

    there, output = [*CONTROLLERS, MODEL], io.StringIO()
    monkeypatch.setattr(discover, "running", lambda _: SimpleNamespace())
    monkeypatch.setattr(controllers.kubectl, "run", kubectl)
    controllers.wait(Workdir(tmp_path, tmp_path / "home", "laptop"), Console(file=output))
    assert output.getvalue().splitlines() == ([f"cluster: {late}"] if late else [])
