"""How models behind a front door are asked after an update."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest
from rich.console import Console

from llmd_common.kubernetes.fields import Object
from llmd_gke.catalog.front_door import SIDECAR
from llmd_gke.repository import CLONE
from localcloud.cluster import front_door
from localcloud.common.workdir import Workdir


@pytest.mark.parametrize(
    ("keys", "model", "expected"),
    [
        ("rehearsal-dummy", "qwen", "rehearsal-dummy-key-of-the-caller-team-a"),
        ("{batch: rehearsal-dummy}", "qwen", "rehearsal-dummy-key-of-the-caller-batch"),
        ("{team-a.next: rehearsal-dummy}", "small", "rehearsal-dummy-key-of-the-caller-team-a.next"),
        ("{batch: rehearsal-dummy}", "small", None),
        ("{secure: v1:abc}", "qwen", None),
    ],
)
def test_a_model_is_asked_with_the_key_of_a_caller_who_may_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str, model: str, expected: str | None
) -> None:
    monkeypatch.setenv("LLMD_GKE_CLOUD", "laptop")
    text = (CLONE / "Pulumi.door.yaml").read_text()
    (tmp_path / "Pulumi.door.yaml").write_text(text)
    workdir = Workdir(tmp_path, tmp_path / "home", "laptop")
    assert front_door.key(workdir, "door", model) is None, "there is no copy yet"
    workdir.config.mkdir(parents=True)
    workdir.stack_copy("door").write_text(
        text.replace("llmd-gke:callerKeys: rehearsal-dummy", f"llmd-gke:callerKeys: {keys}")
    )
    assert front_door.key(workdir, "door", model) == expected


def envoy(*, ready: bool = True, sidecar: bool = True, leaving: bool = False) -> Object:
    containers = [{"name": "envoy"}, *([{"name": SIDECAR}] if sidecar else [])]
    return {
        "metadata": {"deletionTimestamp": "2026-11-23T00:00:00Z"} if leaving else {},
        "spec": {"containers": containers},
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]},
    }


REPLACED = {
    "both": ([envoy(), envoy()], True),
    "both, and an old one that gets no requests any more": (
        [envoy(), envoy(), envoy(sidecar=False, leaving=True)],
        True,
    ),
    "as native sidecars": (
        [{**envoy(), "spec": {"initContainers": [{"name": SIDECAR}], "containers": [{"name": "envoy"}]}}, envoy()],
        True,
    ),
    "none yet": ([], False),
    "one of two": ([envoy(), envoy(sidecar=False)], False),
    "both, beside an old one that serves": ([envoy(), envoy(), envoy(sidecar=False)], False),
    "one that is not ready": ([envoy(), envoy(ready=False)], False),
}


@pytest.mark.parametrize(("pods", "done"), REPLACED.values(), ids=REPLACED.keys())
def test_the_models_are_asked_once_every_envoy_that_serves_has_the_sidecar(pods: list[Object], done: bool) -> None:
    assert (front_door.not_replaced(pods, 2) == "") == done


def test_nothing_waits_for_a_sidecar_that_never_comes_because_all_models_are_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: object) -> NoReturn:
        raise AssertionError(f"asked the cluster: {arguments}")

    monkeypatch.setenv("LLMD_GKE_CLOUD", "laptop")
    monkeypatch.setattr(front_door.kubectl, "run", refused)
    file = tmp_path / "Pulumi.door.yaml"
    file.write_text(
        (CLONE / file.name).read_text().replace("      maxModelLen", "      stopped: true\n      maxModelLen")
    )
    front_door.wait(Workdir(tmp_path, tmp_path / "home", "laptop"), "door", Console())
