"""Which program is taken: a built one, or none yet; official plugins are in ``test_plugins``."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from rich.console import Console

from llmd_common.problems import BadInput, SetUpFailed
from localcloud import binaries
from localcloud.binaries import plugins
from localcloud.binaries.table import BY_NAME, PROVIDER_NAME
from localcloud.common.lock import in_turn
from localcloud.tests.binaries.releases import program


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no program on PATH but those that a test puts there."""
    monkeypatch.setenv("LLMD_GKE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi"))
    monkeypatch.setattr(plugins, "SOURCES", ())
    (tmp_path / "bin").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ["etcd", "cert-manager", PROVIDER_NAME, "front-door-envoy", "redis-server"])
def test_a_program_that_is_not_there_is_named_with_the_command_that_builds_or_installs_it(name: str) -> None:
    with pytest.raises(SetUpFailed) as raised:
        binaries.path(name)
    assert name in str(raised.value)
    assert "Fix: .venv/bin/python -m localcloud programs" in str(raised.value)


def test_a_built_program_is_found_and_building_it_again_needs_no_go(tmp_path: Path) -> None:
    built = program(BY_NAME["etcd"].path(tmp_path / "cache"))
    assert binaries.path("etcd") == built
    binaries.ensure(["etcd", "envoy"], Console(quiet=True))


def test_a_program_that_is_unknown_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(
        BadInput, match=r"etcds: unknown program\.\nAllowed: etcd, .*pulumi-resource-gcp, .*, envoy, .*redis-server\."
    ):
        binaries.chosen(["etcds"])


def test_who_wants_to_build_while_another_builds_waits_and_is_told_for_whom(tmp_path: Path) -> None:
    waited, held, free = list[str](), threading.Event(), threading.Event()

    def first() -> None:
        with in_turn(tmp_path / "lock", lambda _: None):
            held.set()
            assert free.wait(20)

    def waiting(pid: str) -> None:
        waited.append(pid)
        free.set()

    thread = threading.Thread(target=first)
    thread.start()
    assert held.wait(20)
    with in_turn(tmp_path / "lock", waiting):
        thread.join(20)
    assert waited == [str(os.getpid())]
