"""An `up` whose preview was stopped; what else it does after the preview: tests/real_engine/test_life_cycle.py."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from localcloud.common.workdir import Workdir
from localcloud.workflow import commands, pack, unchanged
from localcloud.workflow.runner import STOPPED, Runner


@dataclass
class Engine:
    """Ends its preview with a status, and notes its commands."""

    workdir: Workdir
    status: int
    ran: list[str] = field(default_factory=list[str])
    pulumi: Path = Path("/engine/pulumi")

    @property
    def engine(self) -> Engine:
        return self

    def stream(self, command: str, *_: str, **__: object) -> int:
        self.ran.append(command)
        return self.status


@pytest.mark.parametrize("status", [STOPPED, -9])
def test_a_preview_that_was_stopped_or_killed_is_followed_by_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(unchanged, "is_complete", lambda *_: True)
    monkeypatch.setattr(unchanged, "inputs", lambda *_: None)
    monkeypatch.setattr(pack, "flags", lambda _: list[str]())
    engine = Engine(Workdir(tmp_path / "project", tmp_path / "home"), status)
    runner = cast("Runner", engine)
    assert commands._update(runner, "local", Console(quiet=True)) == status
    assert engine.ran == ["preview"]
