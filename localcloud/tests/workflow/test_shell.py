"""The shell that `make shell` starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.common.workdir import Workdir
from localcloud.workflow import shell


def test_a_make_inside_the_shell_is_no_part_of_the_one_that_started_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in shell.MAKE:
        monkeypatch.setenv(name, "1")
    (tmp_path / "home").mkdir()
    _, environment = shell.command(Workdir(tmp_path, tmp_path / "home"), "/bin/sh")
    assert set(shell.MAKE).isdisjoint(environment)
