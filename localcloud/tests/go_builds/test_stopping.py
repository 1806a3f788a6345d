"""Ctrl-C in the very moment in which Go is started."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from localcloud.go_builds import go_process
from localcloud.go_builds.go_process import ModuleBuild
from localcloud.go_builds.go_toolchain import Go, Purpose


def test_ctrl_c_while_go_is_being_started_leaves_no_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []

    class Interrupted(subprocess.Popen[str]):
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[arg-type]
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(go_process.subprocess, "Popen", Interrupted)
    sleep = Go(str(shutil.which("sleep")), (1, 26), tmp_path)  # it goes on until it is ended, as a long build does
    with (tmp_path / "lock").open("w") as lock:
        working = ModuleBuild(
            go=sleep, environment=dict(os.environ), module=tmp_path, source=tmp_path, purpose=Purpose(), lock=lock
        )
        try:
            with pytest.raises(KeyboardInterrupt):
                working.run(["600"], lambda line: None)
            assert [one.poll() for one in started] == [-signal.SIGINT]
        finally:
            for one in started:
                one.kill()
                one.communicate()


def test_who_handled_ctrl_c_before_does_so_again(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    true = Go(str(shutil.which("true")), (1, 26), tmp_path)
    with (tmp_path / "lock").open("w") as lock:
        assert (
            ModuleBuild(
                go=true, environment=dict(os.environ), module=tmp_path, source=tmp_path, purpose=Purpose(), lock=lock
            ).run([], lambda line: None)
            == ""
        )
    assert signal.getsignal(signal.SIGINT) is before
