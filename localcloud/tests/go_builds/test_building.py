"""Building with the real Go, from a module proxy on this machine."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from llmd_common.problems import SetUpFailed
from localcloud.binaries import resolve
from localcloud.common import memory
from localcloud.go_builds import build as go_build
from localcloud.go_builds.wrapper import ModuleChanges
from localcloud.tests.go_builds.modules import EXTRA, LIBRARY, MODULE, VERSION, Shop, open_shop
from tests.waiting import eventually

ROOT = Path(__file__).parents[3]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, standard: Path) -> Shop:
    return open_shop(tmp_path, monkeypatch, standard)


def build(shop: Shop) -> str:
    screen = io.StringIO()
    resolve.build(shop.programs, shop.cache, Console(file=screen, width=200))
    return screen.getvalue()


def stderr_of(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stderr.strip()


def test_programs_are_built_stamped_with_their_version_and_nothing_else_is_left(shop: Shop) -> None:
    screen = build(shop)
    assert [stderr_of(one.path(shop.cache)) for one in shop.programs] == [
        f"hello {VERSION}",
        f"goodbye {VERSION}",
    ]
    assert f"programs: hello {VERSION} built, 1 of 2" in screen
    assert f"programs: goodbye {VERSION} built, 2 of 2" in screen
    assert not (shop.cache / "building").exists()
    assert sorted(entry.name for entry in shop.cache.iterdir()) == ["building.lock", "programs"]
    assert not [file for file in shop.user_modules.rglob(f"*{VERSION}*") if file.suffix != ".lock"]
    assert "of 2" not in build(shop)  # as a run that waited for the other to build all


@pytest.mark.parametrize(
    ("text", "says"),
    [(None, ""), (lambda module: (module / EXTRA).read_text().replace("more", "MUCH MORE"), "MUCH MORE\n")],
)
def test_a_file_of_the_module_is_left_out_or_rewritten_for_one_program_and_for_no_other(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, text: Callable[[Path], str] | None, says: str
) -> None:
    monkeypatch.setenv("SAY_MORE", "1")
    changes = ModuleChanges(lambda module: {EXTRA: text(module) if text else None}, "changed")
    whole, other = shop.apart
    changed = replace(other, wrapper=replace(other.wrapper, changes=changes))
    resolve.build([whole, changed], shop.cache, Console(quiet=True))
    assert stderr_of(changed.path(shop.cache)) == f"{says}goodbye {VERSION}"
    assert stderr_of(whole.path(shop.cache)) == f"more\nhello {VERSION}"


def test_after_a_failure_the_next_run_builds_only_what_is_missing(shop: Shop) -> None:
    sums, (first, second) = shop.folder / "gomod" / "more" / "go.sum", shop.apart
    pinned = sums.read_text()
    sums.write_text("")
    with pytest.raises(SetUpFailed, match=r"go\.sum does not match"):
        resolve.build([first, second], shop.cache, Console(quiet=True))
    assert not second.path(shop.cache).exists()
    before = first.path(shop.cache).stat().st_mtime_ns

    sums.write_text(pinned)
    screen = io.StringIO()
    resolve.build([first, second], shop.cache, Console(file=screen, width=200))
    assert first.path(shop.cache).stat().st_mtime_ns == before
    assert stderr_of(second.path(shop.cache)) == f"goodbye {VERSION}"
    assert f"programs: goodbye {VERSION} built, 1 of 1" in screen.getvalue()


def test_a_module_version_that_is_refused_is_named_with_the_fix(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOPROXY", f"file://{shop.folder}/nothing")
    with pytest.raises(SetUpFailed) as raised:
        build(shop)
    message = str(raised.value)
    assert f"The Go module {MODULE} {VERSION} could not be downloaded" in message
    assert "no such file" in message
    assert "It is needed to build hello, goodbye." in message
    assert f"Fix: check with `go mod download {MODULE}@{VERSION}`" in message


def test_a_module_that_is_not_what_was_pinned_is_refused(shop: Shop) -> None:
    published = shop.folder / "proxy" / MODULE / "@v" / f"{VERSION}.mod"
    published.write_text(published.read_text() + "\n// somebody changed it\n")
    with pytest.raises(SetUpFailed, match="checksum mismatch"):
        build(shop)


@pytest.mark.parametrize(("answer", "problem"), [("go1.25.4", "Go 1.25 is too old"), ("", "does not work")])
def test_an_unfit_go_is_refused_with_the_fix(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, problem: str
) -> None:
    other = tmp_path / "bin" / "go"
    other.parent.mkdir()
    other.write_text(f"#!/bin/sh\nprintf '{answer}\\n/modules\\n\\n'\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{other.parent}:/bin:/usr/bin")
    with pytest.raises(SetUpFailed, match=problem) as raised:
        build(shop)
    assert "Fix: install Go 1.26" in str(raised.value)


@pytest.mark.parametrize("sort", [signal.SIGINT, signal.SIGKILL])
def test_when_the_builder_is_stopped_no_compiler_goes_on_and_the_next_one_can_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, standard: Path, sort: signal.Signals
) -> None:
    shop = open_shop(tmp_path, monkeypatch, standard, slow_functions=2000)  # there is something to interrupt
    script = (
        "import sys; from pathlib import Path; from rich.console import Console\n"
        "from localcloud.binaries import resolve\n"
        "from localcloud.go_builds import build\n"
        "from localcloud.tests.go_builds.modules import Shop\n"
        "build.STANDARD = 'os'\n"
        "shop = Shop(Path(sys.argv[1]), ('hello', 'goodbye'))\n"
        "resolve.build(shop.programs, shop.cache, Console())\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, stderr=subprocess.PIPE) as running:
        try:
            eventually(lambda: [one for one in compilers(tmp_path) if f" -p {LIBRARY} " in one], 60)
            running.send_signal(sort)
            running.wait(30)
        finally:
            running.kill()
    assert running.returncode != 0
    if sort is signal.SIGINT:
        assert not compilers(tmp_path)
    # After SIGKILL, Go goes on until the package is done; it holds the lock meanwhile, so that the next one waits.
    build(shop)
    assert not compilers(tmp_path)
    assert stderr_of(shop.programs[1].path(shop.cache)) == f"goodbye {VERSION}"


def compilers(folder: Path) -> list[str]:
    """Commands of running processes that work in that folder, but for Python's own."""
    result: list[str] = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            command = process.cmdline()
            environment = process.environ() if command and Path(command[0]).name in {"go", "compile"} else {}
            if environment.get("GOCACHE", "").startswith(str(folder)):
                result.append(" ".join(command))
    return result


@pytest.mark.parametrize(("available_mb", "compilers"), [(100, 1), (3200, 1), (3300, 2), (90_000, 4)])
def test_as_many_compilers_run_as_memory_and_processors_allow(
    monkeypatch: pytest.MonkeyPatch, available_mb: int, compilers: int
) -> None:
    monkeypatch.setattr(memory, "available_mb", lambda: available_mb)
    monkeypatch.setattr(go_build.os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    assert go_build.compilers() == compilers
