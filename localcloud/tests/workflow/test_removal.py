"""What `make down` says of an engine that fails or is killed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console

from localcloud.common.workdir import Workdir
from localcloud.workflow import cloud_files, recovery, removal, state
from localcloud.workflow.runner import STOPPED, Runner


class Ending:
    """An engine whose destroy ends with a status."""

    def __init__(self, workdir: Workdir, status: int) -> None:
        self.workdir, self.status = workdir, status

    def stream(self, *arguments: str, **_: object) -> int:
        return self.status


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (255, "Fix: correct the cause named in the error above, then `make down STACK=dev`, which continues."),
        (-9, "The engine was killed. `make down STACK=dev` repairs what it left and continues."),
        (STOPPED, ""),
    ],
    ids=["failed", "killed", "stopped"],
)
def test_a_destroy_that_did_not_end_well_says_what_to_do(destroying: Workdir, status: int, text: str) -> None:
    console = Console(record=True, width=1000)
    assert removal.remove(cast("Runner", Ending(destroying, status)), "dev", console) == status
    output = console.export_text()
    assert text in output
    assert bool(output.strip()) is bool(text)


@pytest.fixture
def destroying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workdir:
    """A rehearsal whose stack `dev` has a resource."""
    workdir = Workdir(tmp_path, tmp_path / "home")
    workdir.stack_copy("dev").parent.mkdir(parents=True)
    workdir.stack_copy("dev").write_text("")
    present: dict[str, Any] = {"resources": [{"type": "pulumi:pulumi:Stack", "urn": "urn::stack"}]}
    monkeypatch.setattr(cloud_files, "objects", lambda workdir: {"it": {}})
    monkeypatch.setattr(recovery, "clear_locks", lambda *arguments: None)
    monkeypatch.setattr(recovery, "settle", lambda *arguments: None)
    (tmp_path / "Pulumi.yaml").write_text("name: p\n")
    file = state.folder(workdir) / "dev.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"checkpoint": {"latest": present}}))
    return workdir
