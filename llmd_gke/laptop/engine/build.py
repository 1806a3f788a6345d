"""Builds the engine from its published Go module.

The CLI is ``github.com/pulumi/pulumi/pkg/v3/cmd/pulumi``; the language host is ours (gomod/engine). Work happens in
``<cache>/building`` with a Go build cache of its own, so an interrupted build goes on where it stopped; all of it
is removed when the finished engine has been moved into place.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from rich.console import Console

from llmd_gke.catalog.versions import engine_cli
from llmd_gke.laptop.engine import golang, place, room
from llmd_gke.laptop.engine.found import HOST, Engine, ask_version
from llmd_gke.laptop.engine.progress import Display, Estimate
from llmd_gke.laptop.errors import SetUpFailed

PACKAGES = {"pulumi": "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", HOST: "."}
"""Programs and the packages they are built from; the order is that of building."""

SDK = "github.com/pulumi/pulumi/sdk/v3"
VERSION_VARIABLE = f"{SDK}/go/common/version.Version"
TAGS = "osusergo,grpcnotrace"
CPU_S = 560.0
"""Processor seconds of a whole build (measured on one machine; only the first guess of the time left)."""


@dataclass(frozen=True)
class Work:
    """One build under way: the toolchain, its environment, its folder, and how many compilers may run."""

    go: golang.Go
    environment: dict[str, str]
    folder: Path
    compilers: int
    lock: IO[str]

    @property
    def record(self) -> Path:
        """Packages compiled so far, one a line; an interrupted build is measured on from there."""
        return self.folder / "compiled.txt"


def build(cache: Path, console: Console, meanwhile: Callable[[], None]) -> Engine:
    """The built engine, built if need be. ``meanwhile`` is called once compiling has begun.

    Raises ``SetUpFailed`` with the cause: no or unfit Go, too little disk or memory, a refused module.
    """
    with (
        Display(console) as display,
        place.builder(cache, lambda pid: display.show(f"another process ({pid}) is building it; waiting")) as lock,
    ):
        if ready := place.present(cache):
            return ready
        work = prepare(cache, lock)
        kept = place.parts(cache)
        packages = {name: package for name, package in PACKAGES.items() if not kept[name].exists()}
        if packages:
            weights = modules(work, display, list(packages.values()))
            compile_all(work, display, weights, packages, kept, meanwhile)
        assemble(work, kept, place.built(cache))
        shutil.rmtree(work.folder, ignore_errors=True)
    engine = place.present(cache)
    if engine is None:
        raise SetUpFailed(
            f"The engine is not whole in {place.built(cache)}. Fix: remove that folder, run the command again."
        )
    console.print(
        f"engine: built {engine.version} in {display.elapsed_s:.0f} s, kept in {place.built(cache)}",
        highlight=False,
        soft_wrap=True,
    )
    return engine


def prepare(cache: Path, lock: IO[str]) -> Work:
    """Checks the toolchain and the room, and lays out the folder."""
    go = golang.find(os.environ)
    kept = all(part.exists() for part in place.parts(cache).values())
    modules_present = kept or (go.modules / f"github.com/pulumi/pulumi/pkg/v3@v{engine_cli()}").is_dir()
    space = room.look(cache, go.modules)
    at_once = 1 if kept else room.compilers(space, cache=cache, modules=go.modules, modules_present=modules_present)
    folder = cache / "building" / place.parts(cache)["pulumi"].name
    for part in ("gocache", "tmp", "out"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    return Work(go, golang.environment(os.environ, go.version, folder), folder, at_once, lock)


def modules(work: Work, display: Display, packages: list[str]) -> dict[str, float]:
    """Downloads the modules that are missing and returns every package to compile with its weight (bytes of source)."""
    fields = "ImportPath,Dir,GoFiles"
    downloads = 0

    def heard(line: str) -> None:
        nonlocal downloads
        downloads += line.startswith("go: downloading")
        display.show(f"getting Go modules ({downloads} downloaded)" if downloads else "reading Go modules")

    display.show("reading Go modules")
    output = run_go(work, ["list", "-deps", f"-json={fields}", "-tags", TAGS, *packages], heard)
    weights: dict[str, float] = {}
    for package in _documents(output):
        files, folder = cast("list[str]", package.get("GoFiles") or []), Path(str(package["Dir"]))
        sizes = 0
        for file in files:
            with contextlib.suppress(OSError):  # generated files have no source on disk
                sizes += (folder / file).stat().st_size
        weights[str(package["ImportPath"])] = 20_000 + sizes  # starting a compiler costs something, too
    weights.pop("unsafe", None)
    return weights


def compile_all(
    work: Work,
    display: Display,
    weights: dict[str, float],
    packages: Mapping[str, str],
    kept: Mapping[str, Path],
    meanwhile: Callable[[], None],
) -> None:
    """Compiles the CLI, then the language host, which shares most packages with it; each is kept once it is whole."""
    before = work.record.read_text().split() if work.record.exists() else []
    estimate = Estimate(weights, CPU_S / work.compilers, before)
    once = threading.Event()
    with work.record.open("a") as record:

        def heard(line: str) -> None:
            if line in weights:
                estimate.compiled(line)
                record.write(f"{line}\n")
                record.flush()
            count, total = estimate.count
            what = f"compiling, package {count} of {total}" if count < total else "linking"
            if once.is_set():
                display.show(what, share=estimate.share, left_s=estimate.left_s(display.elapsed_s))

        def begun() -> None:
            if not once.is_set():
                meanwhile()
                once.set()

        stamp = f"-s -w -X {VERSION_VARIABLE}=v{engine_cli()}"
        options = ["build", "-v", "-trimpath", "-buildvcs=false", "-tags", TAGS, "-p", str(work.compilers)]
        for name, package in packages.items():
            made = work.folder / "tmp" / name
            run_go(work, [*options, "-ldflags", stamp, "-o", str(made), package], heard, begun)
            kept[name].parent.mkdir(parents=True, exist_ok=True)
            made.replace(kept[name])


def assemble(work: Work, kept: Mapping[str, Path], target: Path) -> None:
    """Puts the executor and the launcher beside the binaries, tries them, and moves all into place at once."""
    out = work.folder / "out"
    sdk = run_go(work, ["list", "-m", "-f", "{{.Dir}}", SDK], lambda _: None).strip()
    sources = {
        **kept,
        place.EXECUTOR: Path(sdk, "python", "cmd", place.EXECUTOR),
        place.FAST_EXIT: place.MODULE / place.FAST_EXIT,
    }
    for name, source in sources.items():
        (out / name).unlink(missing_ok=True)
        if name in kept:
            (out / name).hardlink_to(source)
        else:
            shutil.copyfile(source, out / name)
    (out / place.EXECUTOR).chmod(0o755)
    said = ask_version(out / "pulumi")
    if said != f"v{engine_cli()}":
        raise SetUpFailed(
            f"The built engine says version {said!r} instead of v{engine_cli()}. Fix: remove {work.folder}."
        )
    (out / place.COMPLETE).write_text(f"built with Go {golang.name(work.go.version)}\n")
    shutil.rmtree(target, ignore_errors=True)
    out.rename(target)


def run_go(
    work: Work, arguments: list[str], heard: Callable[[str], None], begun: Callable[[], None] | None = None
) -> str:
    """Runs Go in the wrapper module and returns its standard output; ``heard`` gets each line of its messages.

    Go runs in a process group of its own and inherits the builder's lock: Ctrl-C ends it in good order, and should this
    process be killed, the next builder waits until the compilers are gone.
    """
    messages: list[str] = []
    process = subprocess.Popen(
        [work.go.command, *arguments],
        cwd=place.MODULE,
        env=work.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        pass_fds=(work.lock.fileno(),),
    )
    output: list[str] = []
    reader = threading.Thread(target=lambda: output.append(cast("IO[str]", process.stdout).read()), daemon=True)
    reader.start()
    beside = threading.Thread(target=begun or (lambda: None), daemon=True)
    beside.start()
    try:
        for line in _lines_and_ticks(cast("IO[str]", process.stderr)):
            if line:
                messages.append(line)
            heard(line)
        process.wait()
        beside.join()
        reader.join()
    except BaseException:
        _end(process)
        raise
    if process.returncode:
        raise golang.explain("\n".join(messages))
    return "".join(output)


def _lines_and_ticks(stream: IO[str]) -> Iterator[str]:
    """Each line as it comes, and an empty one every second so that the time shown goes on."""
    lines: queue.Queue[str | None] = queue.Queue()

    def pump() -> None:
        for line in stream:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    threading.Thread(target=pump, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=1)
        except queue.Empty:
            yield ""
            continue
        if line is None:
            return
        yield line


def _end(process: subprocess.Popen[str]) -> None:
    """Interrupts Go and its compilers, waits, and kills what is still there after ten seconds."""
    for sort, patience_s in ((signal.SIGINT, 10), (signal.SIGKILL, 10)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sort)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
            return


def _documents(text: str) -> Iterator[dict[str, object]]:
    """The JSON objects that `go list -json` prints one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while (at := _skip_space(text, at)) < len(text):
        value, at = cast("tuple[dict[str, object], int]", decoder.raw_decode(text, at))
        yield value


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
