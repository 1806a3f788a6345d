"""The builder: downloads modules and compiles programs, one wrapper after the other."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import IO

from rich.console import Console

from llmd_common import child_process
from llmd_common.problems import SetUpFailed
from localcloud.common import memory
from localcloud.common.lock import in_turn
from localcloud.go_builds import go_toolchain, modules
from localcloud.go_builds.go_toolchain import Go, Purpose
from localcloud.go_builds.progress import Display
from localcloud.go_builds.wrapper import BuiltProgram, Wrapper

STANDARD = "std"
"""Go's name for the packages that all wrappers share, the standard library."""

FIRST_MB, FURTHER_MB = 2400, 900
"""Memory of one compiler or linker at its peak, and of each further one (measured: Google's provider 2.3 GB, compilers
of the Pulumi CLI 0.9 GB)."""

NO_DEBUGGER = "-dwarf=false"
"""The compiler's share of the linker's ``-s -w``: it writes no DWARF that the linker would discard. That saves 8 % of a
build's processor time. The program remains the same, so its key does not contain it."""

STOP = ((signal.SIGINT, 10), (signal.SIGKILL, 10))
"""Interrupts Go and its compilers, and kills them if they still run after ten seconds."""


def compilers() -> int:
    """Number of compilers and linkers that may run at once: as many as processors and available memory allow."""
    return max(1, min(len(os.sched_getaffinity(0)), 1 + (memory.available_mb() - FIRST_MB) // FURTHER_MB))


@dataclass
class Builder:
    """Builds programs in a cache, in that order.

    Go inherits ``lock``, that of the builder: if this process is killed, the next builder waits until the compilers
    have exited.
    """

    cache: Path
    programs: Sequence[BuiltProgram]
    display: Display
    lock: IO[str]
    compiled: Path = field(init=False)
    """The build cache that the next wrapper's own begins with, as links: at first the standard library."""

    def __post_init__(self) -> None:
        self.compiled = self.folder / "standard" / "gocache"

    @cached_property
    def go(self) -> Go:
        """The toolchain. Raises ``SetUpFailed`` if it is missing or unfit."""
        return go_toolchain.find(os.environ, Purpose.of(self.programs))

    def build(self) -> None:
        """Builds those programs that are missing. Raises ``SetUpFailed`` with the cause and the fix."""
        # Another process may have built some while this one waited for it.
        missing = [program for program in self.programs if not program.path(self.cache).exists()]
        groups = [list(group) for _, group in groupby(missing, key=lambda program: program.wrapper.name)]
        if groups:
            with self._downloading(groups[0]):
                self._compile(
                    self.folder / "standard", self.folder, Purpose.of(missing), [STANDARD], "standard library"
                )
        finished = 0
        for group, following in zip(groups, [*groups, list[BuiltProgram]()][1:], strict=True):
            more = f" and {len(group) - 1} more" if len(group) > 1 else ""
            label = f"{group[0].name}{more}, {finished} of {len(missing)} programs built"
            self.display.show(f"{label}: reading Go modules")
            source = self._source(group[0].wrapper)
            with self._downloading(following):
                self._build(group, source, label)
            for program in group:
                finished += 1
                size_mb = program.path(self.cache).stat().st_size >> 20
                self.display.say(f"{program.name} {program.version} built, {finished} of {len(missing)} ({size_mb} MB)")

    def module_folder(self, wrapper: Wrapper, module: str) -> Path:
        """The folder of a module that the wrapper pins, downloaded where it is missing. It is removed after the build.

        Raises ``SetUpFailed``.
        """
        environment = self._environment(self.folder / wrapper.name)
        return modules.download(self.go, module, wrapper.source, environment)

    @property
    def folder(self) -> Path:
        """The folder for everything while it is built."""
        return self.cache / "building"

    def _environment(self, work: Path) -> dict[str, str]:
        """Go's settings for a folder."""
        (work / "tmp").mkdir(parents=True, exist_ok=True)
        return go_toolchain.environment(os.environ, self.go, work)

    def _build(self, programs: list[BuiltProgram], source: Path, label: str) -> None:
        """Builds the programs of one wrapper; they get their places once all are complete."""
        wrapper, purpose = programs[0].wrapper, Purpose.of(programs)
        work = self.folder / wrapper.name
        if not (work / "gocache").exists():
            shutil.copytree(self.compiled, work / "gocache", copy_function=os.link)
        stamps = [part for program in programs for part in ("-ldflags", f"{program.package}={program.ldflags}")]
        # All by one command: program by program, processors would be idle at the end of each.
        packages = [program.package for program in programs]
        self._compile(work, source, purpose, ["-tags", wrapper.tags, *stamps, "-o", f"{work}/out/", *packages], label)
        for program in programs:
            path = program.path(self.cache)
            path.parent.mkdir(parents=True, exist_ok=True)
            (work / "out" / program.output).replace(path)
        if wrapper.shared:
            self.compiled = self.folder / "shared"
            shutil.rmtree(self.compiled, ignore_errors=True)
            (work / "gocache").rename(self.compiled)
        shutil.rmtree(work, ignore_errors=True)

    def _compile(self, work: Path, source: Path, purpose: Purpose, arguments: list[str], label: str) -> None:
        options = ["-v", "-trimpath", "-buildvcs=false", f"-gcflags=all={NO_DEBUGGER}", "-p", str(compilers())]
        said: list[str] = []

        def hear(line: str) -> None:
            said.append(line)
            self.display.show(f"{label}: {line.strip()}")

        status = child_process.follow(
            [self.go.command, "build", *options, *arguments],
            source,
            self._environment(work),
            hear,
            stop=STOP,
            group=True,
            pass_fds=[self.lock.fileno()],
        )
        if status:
            raise go_toolchain.explain("".join(said), purpose, self.folder)

    @contextlib.contextmanager
    def _downloading(self, programs: list[BuiltProgram]) -> Generator[None]:
        """Downloads the modules of further programs, of one wrapper, during the block.

        Downloading leaves the processors idle, compiling leaves the network idle: it was a minute of every eight.
        """
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(SetUpFailed):  # it is raised again when it is the turn of these programs
                if programs:
                    wrapper = programs[0].wrapper
                    command = [self.go.command, "list", "-deps", "-tags", wrapper.tags]
                    command += [program.package for program in programs]
                    source, environment = self._source(wrapper), self._environment(self.folder / wrapper.name)
                    environment["GOCACHE"] = str(self.compiled)  # the wrapper's own begins with it once it is complete
                    lock = [self.lock.fileno()]
                    stack.enter_context(child_process.beside(command, source, environment, stop=STOP, pass_fds=lock))
            yield

    def _source(self, wrapper: Wrapper) -> Path:
        """The wrapper module; if its code embeds files or the wrapped module is changed, a copy of both."""
        if not wrapper.files and not wrapper.changes:
            return wrapper.source
        copy, (path, _) = self.folder / wrapper.name / "source", wrapper.pins
        module = self.module_folder(wrapper, path)
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(wrapper.source, copy)
        if wrapper.files:
            for name, text in wrapper.files(module).items():
                (copy / name).write_text(text)
        if wrapper.changes:
            # Go has checked the module against go.sum when it unpacked it. Files in its cache are read-only.
            shutil.copytree(module, copy / "module", copy_function=shutil.copyfile)
            for name, text in wrapper.changes.files(module).items():
                (copy / "module" / name).unlink()
                if text is not None:
                    (copy / "module" / name).write_text(text)
            with (copy / "go.mod").open("a") as file:
                file.write(f"\nreplace {path} => ./module\n")
        return copy


@contextlib.contextmanager
def builder(cache: Path, programs: Sequence[BuiltProgram], console: Console, label: str) -> Generator[Builder]:
    """A builder of programs, after waiting for other builders; after success it leaves only the programs.

    ``label`` begins each line on the console.
    """
    with Display(console, label) as display:

        def waiting(pid: str) -> None:
            display.show(f"another process ({pid}) is building; waiting")

        with in_turn(cache / "building.lock", waiting) as held:
            made = Builder(cache, programs, display, held)
            yield made
            shutil.rmtree(made.folder, ignore_errors=True)
