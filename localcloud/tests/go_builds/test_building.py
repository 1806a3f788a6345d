"""Building with the real Go, from a module proxy on this machine."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from llmd_common.problems import SetUpFailed
from localcloud.binaries import cache_key, resolve
from localcloud.go_builds import build as builder
from localcloud.go_builds.wrapper import ModuleChanges
from localcloud.tests.go_builds.modules import EXTRA, LIBRARY, MODULE, VERSION, Shop, open_shop, refusing_proxy

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
    assert [stderr_of(cache_key.built(shop.cache, one)) for one in shop.programs] == [
        f"hello {VERSION}",
        f"goodbye {VERSION}",
    ]
    assert f"programs: hello {VERSION} built, 1 of 2" in screen
    assert f"programs: goodbye {VERSION} built, 2 of 2" in screen
    assert not (shop.cache / "building").exists()
    assert sorted(entry.name for entry in shop.cache.iterdir()) == ["building.lock", "programs"]


def test_files_that_are_left_out_are_in_no_program(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAY_MORE", "1")
    whole, *_ = shop.programs
    part = replace(whole, wrapper=replace(whole.wrapper, without=(EXTRA,)))
    resolve.build([part], shop.cache, Console(quiet=True))
    resolve.build([whole], shop.cache, Console(quiet=True))
    assert stderr_of(cache_key.built(shop.cache, part)) == f"hello {VERSION}"
    assert stderr_of(cache_key.built(shop.cache, whole)) == f"more\nhello {VERSION}"
    assert not (shop.cache / "building").exists()


def test_a_file_of_the_module_is_rewritten_for_one_program_and_for_no_other(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAY_MORE", "1")

    def louder(module: Path) -> dict[str, str | None]:
        return {EXTRA: (module / EXTRA).read_text().replace("more", "MUCH MORE")}

    whole, *_ = shop.programs
    changed = replace(whole, wrapper=replace(whole.wrapper, changes=ModuleChanges(louder, "louder")))
    resolve.build([changed], shop.cache, Console(quiet=True))
    resolve.build([whole], shop.cache, Console(quiet=True))
    assert stderr_of(cache_key.built(shop.cache, changed)) == f"MUCH MORE\nhello {VERSION}"
    assert stderr_of(cache_key.built(shop.cache, whole)) == f"more\nhello {VERSION}"


def test_nothing_is_added_to_the_users_module_folder(shop: Shop) -> None:
    build(shop)
    assert not [file for file in shop.user_modules.rglob(f"*{VERSION}*") if file.suffix != ".lock"]


def test_what_programs_share_is_compiled_before_and_nothing_is_linked_twice(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, named = builder.ModuleBuild.run, list[list[str]]()

    def noted(self: builder.ModuleBuild, arguments: list[str], *rest: object) -> str:
        if arguments[0] == "build":
            named.append([one for one in arguments if one.startswith(MODULE)])
        return run(self, arguments, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builder.ModuleBuild, "run", noted)
    build(shop)
    # The standard library first. Go links every command that it is given, also one of several, which it throws away.
    assert named == [[], [LIBRARY], *([one.target.package] for one in shop.programs)]


def test_after_ctrl_c_the_next_run_builds_only_what_is_missing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    run, goodbye = builder.ModuleBuild.run, shop.programs[1].target.package

    def interrupted(self: builder.ModuleBuild, arguments: list[str], *rest: object) -> str:
        if "-o" in arguments and arguments[-1] == goodbye:
            raise KeyboardInterrupt
        return run(self, arguments, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(builder.ModuleBuild, "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            build(shop)
    first, second = (cache_key.built(shop.cache, one) for one in shop.programs)
    before = first.stat().st_mtime_ns
    assert not second.exists()
    compiled = (shop.cache / "building" / "tools" / "compiled.txt").read_text().split()
    assert f"{MODULE}/cmd/hello" in compiled

    screen = build(shop)
    assert first.stat().st_mtime_ns == before
    assert stderr_of(second) == f"goodbye {VERSION}"
    assert f"programs: goodbye {VERSION} built, 1 of 1" in screen
    assert "hello" not in screen


def test_a_module_version_that_is_refused_is_named_with_the_fix(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    with refusing_proxy() as nothing:
        monkeypatch.setenv("GOPROXY", nothing)
        with pytest.raises(SetUpFailed) as raised:
            build(shop)
    message = str(raised.value)
    assert f"The Go module {MODULE} {VERSION} could not be downloaded" in message
    assert "404 Not Found" in message
    assert "It is needed to build hello, goodbye." in message
    assert f"Fix: check with `go mod download {MODULE}@{VERSION}`" in message


def test_a_module_that_is_not_what_was_pinned_is_refused(shop: Shop) -> None:
    published = shop.folder / "proxy" / MODULE / "@v" / f"{VERSION}.mod"
    published.write_text(published.read_text() + "\n// somebody changed it\n")
    with pytest.raises(SetUpFailed, match="checksum mismatch"):
        build(shop)


def test_a_wrapper_without_its_hashes_is_refused_and_not_mended_silently(shop: Shop) -> None:
    sums = shop.folder / "gomod" / "tools" / "go.sum"
    sums.write_text("")
    with pytest.raises(SetUpFailed, match=r"go\.sum does not match go\.mod in .*gomod/tools"):
        build(shop)
    assert sums.read_text() == ""


def test_too_little_memory_names_the_program_and_both_numbers(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    small = builder.capacity_check.MachineCapacity(cache_mb=90_000, memory_mb=150, processors=2)
    monkeypatch.setattr(builder.capacity_check, "look", lambda _: small)
    with pytest.raises(SetUpFailed, match="to build hello, goodbye: 150 MB are available, 200 MB are needed"):
        build(shop)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [("go1.25.4", "Go 1.25 is too old"), ("go1.28.0", "Go 1.28 is newer than any"), ("", "does not work")],
)
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
        "from localcloud.tests.go_builds.modules import Shop\n"
        "shop = Shop(Path(sys.argv[1]), ('hello', 'goodbye'))\n"
        "resolve.build(shop.programs, shop.cache, Console())\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, stderr=subprocess.PIPE) as running:
        try:
            await_(lambda: [one for one in compilers(tmp_path) if f" -p {LIBRARY} " in one], "a compiler to run")
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
    assert stderr_of(cache_key.built(shop.cache, shop.programs[1])) == f"goodbye {VERSION}"


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


def await_(condition: Callable[[], object], what: str, patience_seconds: float = 60) -> None:
    """Returns as soon as the condition holds."""
    end = time.monotonic() + patience_seconds
    while not condition():
        assert time.monotonic() < end, f"waited {patience_seconds} s for {what}"
        threading.Event().wait(0.02)
