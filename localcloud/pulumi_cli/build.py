"""Builds the engine from its published Go module.

The CLI is ``github.com/pulumi/pulumi/pkg/v3/cmd/pulumi``; the language host is ours (gomod/engine). An interrupted
build goes on where it stopped.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from llmd_common.problems import SetUpFailed
from localcloud.go_builds.build import builder
from localcloud.go_builds.wrapper import PULUMIS_TAGS, BuiltProgram, Wrapper, name_of_build
from localcloud.product import engine_cli
from localcloud.pulumi_cli.discover import HOST, Engine, ask_version

VERSION = f"v{engine_cli()}"
SDK = "github.com/pulumi/pulumi/sdk/v3"
WRAPPER = Wrapper("engine", ("github.com/pulumi/pulumi/pkg/v3", VERSION), PULUMIS_TAGS, shared=True)
"""The Go module that pins the CLI and holds the language host."""

PROGRAMS = tuple(
    BuiltProgram(
        name,
        package,
        WRAPPER,
        VERSION,
        {f"{SDK}/go/common/version.Version": VERSION},
        instead="install Pulumi itself: https://www.pulumi.com/docs/install/",
    )
    for name, package in (("pulumi", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"), (HOST, "."))
)
EXECUTOR = "pulumi-language-python-exec"
"""The script with which the host starts a program, from the SDK."""
FAST_EXIT = "fast_exit.py"
COMPLETE = "complete"


def folder(cache: Path) -> Path:
    """The folder of the built engine, whether it exists or not."""
    return cache / name_of_build("engine", VERSION, WRAPPER.digest("*"))


def present(cache: Path) -> Engine | None:
    """The engine that an earlier run built; ``None`` if it is missing."""
    made = folder(cache)
    if not (made / COMPLETE).exists():
        return None
    return Engine((made / "pulumi").resolve(), VERSION, "built from the Go module")


def build(cache: Path, console: Console, further: Sequence[BuiltProgram] = ()) -> Engine:
    """The built engine, which is built if missing, and ``further`` programs with it.

    Raises ``SetUpFailed`` with the cause: no or unfit Go, a full disk, a refused module.
    """
    with builder(cache, (*PROGRAMS, *further), console, "engine") as work:
        if ready := present(cache):
            return ready
        executor = work.module_folder(WRAPPER, SDK) / "python" / "cmd" / EXECUTOR
        out = work.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        shutil.copyfile(executor, out / EXECUTOR)  # now: modules go with the build
        (out / EXECUTOR).chmod(0o755)
        shutil.copyfile(WRAPPER.source / FAST_EXIT, out / FAST_EXIT)
        work.build()
        engine = assemble(cache, out)
        work.display.say(f"built {VERSION} in {work.display.elapsed_seconds:.0f} s, kept in {engine.pulumi.parent}")
    return engine


def assemble(cache: Path, out: Path) -> Engine:
    """Puts the programs beside the scripts in ``out``, tries them, and moves all into place at once."""
    for program in PROGRAMS:
        (out / program.name).hardlink_to(program.path(cache))
    version = ask_version(out / "pulumi")
    if version != VERSION:
        cli = PROGRAMS[0].path(cache)
        raise SetUpFailed(f"The built engine reports version {version!r} instead of {VERSION}. Fix: remove {cli}.")
    (out / COMPLETE).touch()
    target = folder(cache)
    shutil.rmtree(target, ignore_errors=True)
    out.rename(target)
    return Engine((target / "pulumi").resolve(), VERSION, "built from the Go module")
