"""The real model server: which stacks ask for it, and what this machine needs."""

from __future__ import annotations

import ctypes
import platform
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from llmd_common import bootstrap
from llmd_common.problems import SetUpFailed
from localcloud.cluster import capacity_check, vllm
from localcloud.common.workdir import Workdir

CLONE = Path(__file__).parents[3]
SHIPPED = "vllm"


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine that can run the stack's servers, with an empty cache."""
    monkeypatch.setenv("LLMD_GKE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: None)
    monkeypatch.setattr(capacity_check, "available_mb", lambda: 7300)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=7_100_000_000))
    return monkeypatch


def check(stack: str, home: Path) -> None:
    vllm.check(Workdir(CLONE, home, "laptop"), stack)


def missing(_: str) -> None:
    raise OSError("libnuma.so.1: cannot open shared object file")


REFUSALS: dict[str, tuple[object, str, Callable[..., object], str]] = {
    "another processor": (platform, "machine", lambda: "riscv64", "no wheel for riscv64"),
    "no libnuma": (ctypes, "CDLL", missing, "apt install libnuma1"),
    "little memory": (capacity_check, "available_mb", lambda: 7299, "7299 MB are available, 7300 MB are needed"),
    "little disk": (
        shutil,
        "disk_usage",
        lambda _: SimpleNamespace(free=3.2e9),
        r"3\.2 GB are free .* 7 GB are needed",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_machine_that_cannot_run_the_servers_is_refused_with_the_fix_before_anything_is_installed(
    fits: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    check(SHIPPED, tmp_path)
    module, attribute, other, message = REFUSALS[name]
    fits.setattr(module, attribute, other)
    check("door", tmp_path)  # the simulator needs none of it
    with pytest.raises(SetUpFailed, match=message) as raised:
        check(SHIPPED, tmp_path)
    assert "\nFix: " in str(raised.value)
    assert not bootstrap.beside_folder(vllm.SET).exists()
