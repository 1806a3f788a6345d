"""The builder: modules, standard library, programs."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO

from llmd_common.problems import SetUpFailed
from localcloud.go_builds import capacity_check, go_toolchain, lock, packages
from localcloud.go_builds.go_process import ModuleBuild
from localcloud.go_builds.prefetch import Prefetch
from localcloud.go_builds.progress import Display, Estimate, Steps
from localcloud.go_builds.wrapper import Job, Wrapper

STANDARD_MB = 300
"""Disk space of the standard library in Go's build cache."""

PROGRAM_MB = 80
"""Disk space of a program, on average (measured: 25 to 166)."""

Prepared = tuple[ModuleBuild, packages.Packages]
"""Where a wrapper's programs are built, and every package to compile."""


def do_nothing() -> None:
    """Default for callbacks: does nothing."""


def ignore_name(name: str) -> None:
    """Default for the callback ``done``: ignores the program's name."""
    del name


def children_seconds() -> float:
    """Processor seconds of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass
class Builder:
    """One builder at work, for ``jobs`` in that order; raises ``SetUpFailed`` if toolchain, disk or memory are not
    sufficient.
    """

    cache: Path
    jobs: Sequence[Job]
    purpose: go_toolchain.Purpose
    display: Display
    lock: IO[str]
    go: go_toolchain.Go = field(init=False)
    steps: Steps = field(init=False)
    needed_mb: int = field(init=False)
    prefetch: Prefetch[Prepared] | None = field(default=None, init=False)
    finished: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.go = go_toolchain.find(os.environ, self.purpose)
        peak_mb = max((self._modules_mb(job) + self._disk_mb(job) for job in self.jobs), default=0)
        self.needed_mb = peak_mb + STANDARD_MB + self.count * PROGRAM_MB if self.count else 0
        capacity_check.check_disk(capacity_check.look(self.cache), self.needed_mb, self.cache, self.purpose)
        self.steps = Steps([max(job.cpu_seconds, 1.0) / self.compilers(job) for job in self.jobs])

    @property
    def folder(self) -> Path:
        """The folder for everything while it is built."""
        return self.cache / "building"

    @property
    def count(self) -> int:
        """Number of programs to build."""
        return sum(len(job.targets) for job in self.jobs)

    def compilers(self, job: Job) -> int:
        """Number of compilers that may run now. Raises ``SetUpFailed`` if memory does not suffice for one."""
        return capacity_check.compilers(capacity_check.look(self.cache), job.wrapper.memory_mb, job.purpose)

    def _modules_mb(self, job: Job) -> int:
        """Disk space that a job's modules will need; 0 if they are present."""
        folders = (self.go.modules, self._modules(job))
        return 0 if any((one / job.wrapper.pinned_folder).is_dir() for one in folders) else job.wrapper.modules_mb

    def _disk_mb(self, job: Job) -> int:
        """Disk space in MB that compiling a job will need, minus that of an interrupted build's results."""
        return max(0, job.wrapper.disk_mb - capacity_check.size_mb(self._own(job) / "gocache"))

    def _own(self, job: Job) -> Path:
        """The folder in which a job's programs are built; it is removed once they are complete."""
        return self.folder / job.wrapper.name

    def _modules(self, job: Job) -> Path:
        """The folder for a job's modules that the user's module cache lacks."""
        return self._own(job) / "modules"

    def build(
        self, job: Job, on_start: Callable[[], None] = do_nothing, done: Callable[[str], None] = ignore_name
    ) -> float:
        """Builds what that job names; returns the processor seconds it took, with what was prefetched beside it.

        ``on_start`` is called once compiling begins, ``done`` with each program built.
        """
        since_seconds = children_seconds()
        prepared = self._prepared(job)
        with self._next_prepared(job):
            self._compile(job, prepared, on_start, done)
        return children_seconds() - since_seconds

    def _compile(self, job: Job, prepared: Prepared, on_start: Callable[[], None], done: Callable[[str], None]) -> None:
        work, build_plan = prepared
        compilers = self.compilers(job)
        options = ["build", "-v", "-trimpath", "-buildvcs=false", *job.wrapper.flags, "-p", str(compilers)]
        # Packages compiled so far, one a line; an interrupted build is measured on from there.
        record_file = self._own(job) / "compiled.txt"
        before = record_file.read_text().split() if record_file.exists() else []
        estimate = Estimate(build_plan.weights, job.cpu_seconds / compilers, before)
        self.steps.begin(estimate)
        once, earlier = threading.Event(), self.finished

        def first() -> None:
            if not once.is_set():
                once.set()
                on_start()

        with record_file.open("a") as record:

            def on_line(line: str) -> None:
                if line in build_plan.weights:
                    estimate.compiled(line)
                    record.write(f"{line}\n")
                    record.flush()
                self._show(job.targets[self.finished - earlier].name, estimate)

            self._standard(work, [*options, *build_plan.standard], on_line, first)
            # All packages at once: program by program, processors would be idle at the end of each. Commands are
            # excluded, because Go would link each of them and discard the result.
            if build_plan.libraries:
                work.run([*options, *build_plan.libraries], on_line, first)
            for target in job.targets:
                made = self._own(job) / "tmp" / target.name
                work.run([*options, "-ldflags", target.ldflags, "-o", str(made), target.package], on_line, first)
                kept = job.kept[target.name]
                kept.parent.mkdir(parents=True, exist_ok=True)
                made.replace(kept)
                self.finished += 1
                done(target.name)
        shutil.rmtree(self._own(job), ignore_errors=True)

    def module_folder(self, job: Job, path: str) -> Path:
        """The folder of a module that the wrapper pins, downloaded where it is missing; it is removed after the
        build.
        """

        def on_line(line: str) -> None:
            del line
            self.display.show(f"downloading the Go module {path}")

        try:
            return self._module_folder(self._work(job, own_modules=False), path, on_line)
        except SetUpFailed:
            return self._module_folder(self._work(job, own_modules=True), path, on_line)

    def _work(self, job: Job, *, own_modules: bool) -> ModuleBuild:
        """Lays out the folder of a wrapper.

        Modules that the user's module cache contains are used from there, and nothing is added to it: four gigabytes of
        modules for programs that are built once do not belong there. If a module is missing, all are unpacked into a
        folder of our own, which is removed after the work.
        """
        own = self._own(job)
        for part in ("gocache", "tmp"):
            (own / part).mkdir(parents=True, exist_ok=True)
        environment = go_toolchain.environment(os.environ, self.go.version, own)
        environment = (
            go_toolchain.own_modules(environment, self.go, self._modules(job))
            if own_modules
            else go_toolchain.offline(environment)
        )
        source = job.wrapper.source
        work = ModuleBuild(
            go=self.go, environment=environment, module=source, source=source, purpose=job.purpose, lock=self.lock
        )
        changed = job.wrapper.files or job.wrapper.without or job.wrapper.changes
        return work.at(self._changed(work, job.wrapper)) if changed else work

    def _changed(self, work: ModuleBuild, wrapper: Wrapper) -> Path:
        """A copy of the wrapper module with what its code embeds; it takes a module without what is left out."""
        copy = self.folder / wrapper.name / "source"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(wrapper.source, copy)
        module = self._module_folder(work, wrapper.pins[0])
        if wrapper.files:
            for name, text in wrapper.files(module).items():
                (copy / name).write_text(text)
        changes: dict[str, str | None] = dict.fromkeys(wrapper.without)
        if wrapper.changes:
            changes |= wrapper.changes.files(module)
        if changes:
            # Go has checked the module against go.sum when it unpacked it. Files in its cache are read-only.
            shutil.copytree(module, copy / "module", copy_function=shutil.copyfile)
            for name, text in changes.items():
                file = copy / "module" / name
                file.unlink()
                if text is not None:
                    file.write_text(text)
            work.at(copy).run(["mod", "edit", f"-replace={wrapper.pins[0]}=./module"], lambda _: None)
        return copy

    @staticmethod
    def _module_folder(work: ModuleBuild, path: str, on_line: Callable[[str], None] = lambda _: None) -> Path:
        work.run(["mod", "download", path], on_line)
        return Path(work.run(["list", "-m", "-f", "{{.Dir}}", path], on_line).strip())

    def _prepared(self, job: Job) -> Prepared:
        """The build of a job and its packages; downloads missing modules."""
        downloads = 0

        def on_line(line: str) -> None:
            nonlocal downloads
            downloads += line.startswith("go: downloading")
            got = f"downloading Go modules ({downloads} so far)" if downloads else "reading Go modules"
            self.display.show(f"{self._which(job.targets[0].name)}: {got}")

        on_line("")
        prefetch, self.prefetch = self.prefetch, None
        return (prefetch.result(lambda: on_line("")) if prefetch else None) or self._packages(job, on_line)

    @contextlib.contextmanager
    def _next_prepared(self, job: Job) -> Generator[None]:
        """Prepares the next job in the background during the block."""
        following = next((after for one, after in pairwise(self.jobs) if one is job), None)
        if following is None or capacity_check.look(self.cache).cache_mb <= self.needed_mb + self._modules_mb(
            following
        ):
            yield
            return
        self.prefetch = Prefetch(lambda on_line: self._packages(following, on_line))
        try:
            yield
        except BaseException:
            self.prefetch.stop()
            raise

    def _packages(self, job: Job, on_line: Callable[[str], None]) -> Prepared:
        wanted = (target.package for target in job.targets)
        arguments = ["list", "-deps", f"-json={packages.FIELDS}", *job.wrapper.flags, *wanted]
        try:
            work = self._work(job, own_modules=False)
            return work, packages.read(work.run(arguments, lambda _: on_line("")))
        except SetUpFailed:
            work = self._work(job, own_modules=True)
            return work, packages.read(work.run(arguments, on_line))

    def _standard(
        self, work: ModuleBuild, arguments: list[str], on_line: Callable[[str], None], on_start: Callable[[], None]
    ) -> None:
        """Compiles the standard library once for all wrappers; each gets it as links into its own build cache."""
        once, own = self.folder / "standard", Path(work.environment["GOCACHE"])
        once.mkdir(exist_ok=True)
        work.within({**work.environment, "GOCACHE": str(once)}).run(arguments, on_line, on_start)
        for parent, _, files in os.walk(once):
            there = own / Path(parent).relative_to(once)
            there.mkdir(exist_ok=True)
            for name in files:
                if not (there / name).exists():
                    (there / name).hardlink_to(f"{parent}/{name}")

    def _which(self, name: str) -> str:
        return f"{name} ({self.finished + 1} of {self.count})"

    def _show(self, name: str, estimate: Estimate) -> None:
        count, total = estimate.count
        what = f"compiling, package {count} of {total}" if count < total else "linking"
        left_seconds = self.steps.left_seconds(self.display.elapsed_seconds)
        self.display.show(f"{self._which(name)}: {what}", share=self.steps.share, left_seconds=left_seconds)


@contextlib.contextmanager
def alone(cache: Path, display: Display) -> Generator[IO[str]]:
    """Holds the builder's lock, after waiting for other builders; removes the building folder after success."""
    with lock.builder(cache, lambda pid: display.show(f"another process ({pid}) is building; waiting")) as held:
        yield held
        shutil.rmtree(cache / "building", ignore_errors=True)
