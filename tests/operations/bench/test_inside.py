"""The benchmark of a laptop cloud: what has to be downloaded is there before the command goes where nothing can be."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from localcloud.linux_namespaces import discover
from operations.bench import command, environment
from operations.cli import main
from operations.exits import Exit, NotUp
from operations.target import Target


class Entered(Exception):
    """Where the command would become another process."""


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    result: list[str] = []

    def installed(say: Callable[[str], None]) -> Path:
        del say
        result.append("load generator")
        return Path(sys.executable)

    def entered(target: Target) -> None:
        result.append("enter")
        if discover.running(target.workdir.home) is None:
            raise NotUp("The laptop cloud is not running.")
        raise Entered

    monkeypatch.setattr(environment, "python", installed)
    monkeypatch.setattr(command, "enter", entered)
    monkeypatch.setenv("LLMD_GKE_CLOUD", "laptop")
    return result


def test_the_load_generator_is_installed_before_the_command_enters(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs(home: Path) -> discover.NamespacedCluster:
        return discover.NamespacedCluster(discover.psutil.Process(), None)

    monkeypatch.setattr(discover, "running", runs)
    with pytest.raises(Entered):
        main(["bench", "--stack", "local", "--cloud", "laptop"])
    assert steps == ["load generator", "enter"]


def test_nothing_is_installed_where_no_laptop_cloud_runs(
    steps: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LLMD_GKE_HOME", str(tmp_path))
    assert main(["bench", "--stack", "local", "--cloud", "laptop"]) == Exit.NOT_UP
    assert steps == ["enter"]
