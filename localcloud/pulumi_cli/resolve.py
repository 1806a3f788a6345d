"""Chooses the engine: one on PATH, the official release, or one that is built."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from localcloud.go_builds.wrapper import BuiltProgram
from localcloud.pulumi_cli import build, discover, installer


def ready(cache: Path) -> discover.Engine | None:
    """An available engine, on PATH, installed or built earlier; ``None`` if there is none."""
    engine, _ = discover.on_path(os.environ.get("PATH", ""))
    return engine or installer.present(cache) or build.present(cache)


def ensure(
    cache: Path,
    console: Console,
    further: Callable[[Callable[[str], None]], Sequence[BuiltProgram]] = lambda _: (),
) -> discover.Engine:
    """An engine, which is set up if there is none.

    ``further``: asked for programs to be built with it, if it has to be built; its argument prints a line.

    Raises ``SetUpFailed`` if no engine can be set up.
    """

    def say(text: str) -> None:
        console.print(f"engine: {text}", highlight=False, soft_wrap=True)

    engine, left_aside = discover.on_path(os.environ.get("PATH", ""))
    if engine := engine or installer.present(cache) or build.present(cache):
        return engine
    for one in left_aside:
        say(f"{one.pulumi} is not used: {one.reason}.")
    archive = installer.look_up()
    if archive:
        say("not installed yet; downloading the official release ...")
    else:
        say("not installed yet, and the official releases cannot be reached; building it (once).")
    if archive:
        if engine := installer.install(archive, cache):
            say(f"installed {engine.version}, kept in {engine.pulumi.parents[1]}")
            return engine
        say("the official release could not be installed; building instead.")
    try:
        return build.build(cache, console, further(say))
    except KeyboardInterrupt:
        say("stopped; the next run continues building from here.")
        raise
