"""Chooses the program to run: an official one, one inside a package, or one that is built if necessary."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from pathlib import Path

from rich.console import Console

from llmd_common.problems import BadInput, SetUpFailed
from localcloud.binaries import official, packaged, plugins
from localcloud.binaries.table import BY_NAME, PROGRAMS
from localcloud.common.workdir import cache_folder
from localcloud.go_builds.build import builder
from localcloud.go_builds.wrapper import BuiltProgram

COMMAND = ".venv/bin/python -m localcloud programs"


def names() -> tuple[str, ...]:
    """Every program that each laptop cloud runs, in the order of building, and Envoy."""
    return (*(program.name for program in PROGRAMS if program.by_default), packaged.ENVOY)


def chosen(wanted: Iterable[str]) -> tuple[str, ...]:
    """The requested programs, or all of :func:`names`. Raises ``BadInput`` for an unknown one."""
    asked, known = tuple(wanted), (*BY_NAME, *packaged.NAMES)
    if unknown := [name for name in asked if name not in known]:
        raise BadInput(f"{', '.join(unknown)}: unknown program.\nAllowed: {', '.join(known)}.\nFix: {COMMAND}")
    return asked or names()


def path(name: str) -> Path:
    """The path of the program. Raises ``SetUpFailed`` with the command that builds it if it is missing."""
    if ready_path := ready(name, cache_folder()):
        return ready_path
    raise SetUpFailed(f"The program {name} of the laptop cloud is not built yet.\nFix: {COMMAND} {name}")


def ready(name: str, cache: Path) -> Path | None:
    """The path of a suitable official program, installed or downloaded, or else of the built one; ``None`` if there is
    none.

    Raises ``KeyError`` for an unknown name, ``BadInput`` for a wrong variable.
    """
    if name in packaged.NAMES:
        return packaged.ready(name)
    program = BY_NAME[name]
    if official_path := official.find(program) or plugins.present(program, cache):
        return official_path
    built = program.path(cache)
    return built if built.exists() else None


def ensure(wanted: Iterable[str], console: Console) -> None:
    """Downloads or builds the missing programs, in the order of the table. If none is missing, it takes milliseconds.

    Raises ``SetUpFailed`` with the cause and the fix; an interrupted build continues where it stopped.
    """

    def say(text: str) -> None:
        console.print(f"programs: {text}", highlight=False, soft_wrap=True)

    asked, cache = set(wanted), cache_folder()
    for name in packaged.NAMES:
        if name in asked:
            packaged.ensure(name, say)
    if not (missing := to_build(asked, cache, say)):
        return
    say(f"to be built (once): {', '.join(program.name for program in missing)}")
    try:
        build(missing, cache, console)
    except KeyboardInterrupt:
        say("stopped; the next run continues building from here.")
        raise


def to_build(wanted: Container[str], cache: Path, say: Callable[[str], None]) -> list[BuiltProgram]:
    """Those of the programs that must be built: an official plugin that is missing is downloaded if that is possible.

    Raises ``BadInput`` for a wrong variable.
    """
    missing = [program for name, program in BY_NAME.items() if name in wanted and not ready(name, cache)]
    return plugins.install(missing, cache, say)


def build(missing: list[BuiltProgram], cache: Path, console: Console) -> None:
    """Builds those programs, one wrapper after the other."""
    with builder(cache, missing, console, "programs") as work:
        work.build()
        work.display.say(f"built in {work.display.elapsed_seconds:.0f} s, kept in {cache / 'programs'}")
