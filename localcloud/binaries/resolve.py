"""Chooses the program to run: an official one, or one that is built if necessary."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from rich.console import Console

from llmd_common.problems import BadInput, SetUpFailed
from localcloud.binaries import cache_key, official, packaged
from localcloud.binaries.table import BY_NAME, PROGRAMS, PROVIDER_NAME, BuiltProgram
from localcloud.common.workdir import cache_folder
from localcloud.go_builds.build import Builder, alone
from localcloud.go_builds.go_toolchain import Purpose
from localcloud.go_builds.progress import Display
from localcloud.go_builds.wrapper import Job


def names() -> tuple[str, ...]:
    """Every program that each laptop cloud runs, in the order of building, and Envoy."""
    return (*(program.name for program in PROGRAMS if program.by_default), packaged.ENVOY)


def chosen(wanted: Iterable[str]) -> tuple[str, ...]:
    """The requested programs, or all of :func:`names`. Raises ``BadInput`` for an unknown one."""
    asked = tuple(wanted)
    if unknown := [name for name in asked if name not in (*BY_NAME, *packaged.NAMES)]:
        allowed = ", ".join((*BY_NAME, *packaged.NAMES))
        raise BadInput(f"{', '.join(unknown)}: unknown program.\nAllowed: {allowed}.\nFix: {cache_key.COMMAND}")
    return asked or names()


def path(name: str) -> Path:
    """The path of the program. Raises ``SetUpFailed`` with the command that builds it if it is missing."""
    if ready_path := ready(name, cache_folder()):
        return ready_path
    raise SetUpFailed(f"The program {name} of the laptop cloud is not built yet.\nFix: {cache_key.COMMAND} {name}")


def ready(name: str, cache: Path) -> Path | None:
    """The path of a suitable official program, or else of the built one; ``None`` if there is neither.

    Raises ``KeyError`` for an unknown name.
    """
    if name in packaged.NAMES:
        return packaged.ready(name)
    program = BY_NAME[name]
    if official_path := official.find(program):
        return official_path
    built = cache_key.built(cache, program)
    return built if built.exists() else None


def ensure(wanted: Iterable[str], console: Console) -> None:
    """Builds the missing programs, in the order of the table. If none is missing, it takes milliseconds.

    Raises ``SetUpFailed`` with the cause and the fix; an interrupted build continues where it stopped.
    """
    asked, cache = set(wanted), cache_folder()
    for name in packaged.NAMES:
        if name in asked:
            packaged.ensure(name, lambda text: console.print(f"programs: {text}", highlight=False, soft_wrap=True))
    missing = [program for program in BY_NAME.values() if program.name in asked and not ready(program.name, cache)]
    if not missing:
        return
    listed = ", ".join(program.name for program in missing)
    console.print(f"programs: to be built (once): {listed}", highlight=False, soft_wrap=True)
    try:
        build(missing, cache, console)
    except KeyboardInterrupt:
        console.print("programs: stopped; the next run continues building from here.", highlight=False, soft_wrap=True)
        raise


def build(missing: list[BuiltProgram], cache: Path, console: Console) -> None:
    """Builds those programs, one after the other."""
    purpose = Purpose(f"the laptop cloud's programs ({len(missing)} missing)")
    with Display(console, "programs") as display, alone(cache, display) as lock:
        # Another process may have built some while this one waited for it.
        still = [program for program in missing if not cache_key.built(cache, program).exists()]
        jobs = [job(list(group), cache) for _, group in groupby(still, key=lambda program: program.wrapper.name)]
        if not jobs:
            return
        builder, named = Builder(cache, jobs, purpose, display, lock), {program.name: program for program in still}

        def done(name: str) -> None:
            one = named[name]
            size_mb = cache_key.built(cache, one).stat().st_size >> 20
            display.say(f"{name} {one.version} built, {builder.finished} of {builder.count} ({size_mb} MB)")

        for one in jobs:
            cpu_seconds = builder.build(one, done=done)
            display.say(f"{one.purpose.what}: {cpu_seconds:.0f} s of processor time")
        display.say(f"built in {display.elapsed_seconds:.0f} s, kept in {cache / 'programs'}")


def job(group: list[BuiltProgram], cache: Path) -> Job:
    """The build job for the programs of one wrapper."""
    kept = {program.name: cache_key.built(cache, program) for program in group}
    return Job(group[0].wrapper, tuple(program.target for program in group), kept, purpose_of(group))


def purpose_of(group: list[BuiltProgram]) -> Purpose:
    """Describes what Go is needed for: the programs, and the official ones that can replace them."""
    what = ", ".join(program.name for program in group)
    if any(program.name == PROVIDER_NAME for program in group):
        return Purpose(what, f"install the official plugin: pulumi plugin install resource kubernetes {_sdk()}")
    alternatives = [(program.name, program.official) for program in group if program.official]
    if len(alternatives) < len(group):  # the others need Go in any case
        return Purpose(what)
    version = ".".join(map(str, official.numbers(group[0].version)[: alternatives[0][1].parts]))
    return Purpose(what, f"put an official {' and '.join(name for name, _ in alternatives)} {version} first on PATH")


def _sdk() -> str:
    return official.metadata.version("pulumi-kubernetes")
