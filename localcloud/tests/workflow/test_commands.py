"""What an `up` does after the preview that looks for changes; on the engine: tests/real_engine/test_life_cycle.py."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from localcloud.common.workdir import Workdir
from localcloud.workflow import commands, failures, pack, unchanged
from localcloud.workflow.runner import STOPPED, Runner

SAME, MORE = {"same": 3}, {"same": 3, "create": 1}


@dataclass
class Engine:
    """Ends its preview with a status and these changes, and notes its commands."""

    workdir: Workdir
    status: int
    changes: dict[str, int]
    ran: list[str] = field(default_factory=list[str])
    pulumi: Path = Path("/engine/pulumi")

    @property
    def engine(self) -> Engine:
        return self

    def stream(self, command: str, *_: str, events: Path, watch: Callable[[], bool] | None = None, **__: object) -> int:
        self.ran.append(command)
        events.write_text(json.dumps({"summaryEvent": {"resourceChanges": self.changes}}) + "\n")
        if command == "up":
            return 0
        return 1 if watch is not None and watch() else self.status


@pytest.fixture
def workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workdir:
    def nothing(*_: object) -> None: ...

    def expected(*_: object) -> bool:
        return True

    def flags(_: Workdir) -> list[str]:
        return []

    monkeypatch.setattr(unchanged, "is_complete", expected)
    monkeypatch.setattr(unchanged, "inputs", nothing)
    monkeypatch.setattr(unchanged, "record", nothing)
    monkeypatch.setattr(pack, "flags", flags)
    made = Workdir(tmp_path / "project", tmp_path / "home")
    failures.log(made).parent.mkdir()
    return made


def update(engine: Engine, watch: Callable[[], bool] | None = None) -> tuple[int, str]:
    shown = io.StringIO()
    status = commands._update(  # pyright: ignore[reportPrivateUsage]
        cast("Runner", engine), "local", Console(file=shown, width=100), watch=watch
    )
    return status, shown.getvalue()


def test_without_changes_there_is_no_update(workdir: Workdir) -> None:
    engine = Engine(workdir, 0, SAME)
    status, shown = update(engine)
    assert (status, engine.ran) == (0, ["preview"])
    assert shown.endswith("Resources:\n    3 unchanged\n\nNothing to update.\n")


@pytest.mark.parametrize(("status", "changes"), [(0, MORE), (1, SAME)], ids=["a change", "a failure"])
def test_a_change_and_a_failure_are_shown_by_an_update(workdir: Workdir, status: int, changes: dict[str, int]) -> None:
    engine = Engine(workdir, status, changes)
    assert update(engine)[0] == 0
    assert engine.ran == ["preview", "up"]


@pytest.mark.parametrize("status", [STOPPED, -9])
def test_a_preview_that_somebody_stopped_or_killed_is_followed_by_nothing(workdir: Workdir, status: int) -> None:
    engine = Engine(workdir, status, SAME)
    assert update(engine)[0] == status
    assert engine.ran == ["preview"]


def test_a_preview_that_the_watch_stopped_is_followed_by_nothing(workdir: Workdir) -> None:
    engine = Engine(workdir, 0, SAME)
    assert update(engine, lambda: True)[0] == 1
    assert engine.ran == ["preview"]


def test_a_preview_says_now_and_then_how_far_it_is(workdir: Workdir, monkeypatch: pytest.MonkeyPatch) -> None:
    log, screen = failures.log(workdir), io.StringIO()
    log.write_text(json.dumps({"resourcePreEvent": {}}) + "\n" + '{"resourceP')
    reporting = commands.Reporting(log, Console(file=screen), None)
    assert (reporting(), screen.getvalue()) == (False, ""), "it is too early"
    monkeypatch.setattr(commands, "REPORT_SECONDS", 0.0)
    assert reporting() is False
    assert screen.getvalue() == "... resources so far: 1\n"
