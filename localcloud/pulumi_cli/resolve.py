"""Chooses the engine: one on PATH, the official release, or one that is built."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from localcloud.pulumi_cli import build, cache_key, discover, installer


def ready(cache: Path) -> discover.Engine | None:
    """An available engine, on PATH, installed or built earlier; ``None`` if there is none."""
    engine, _ = discover.on_path(os.environ.get("PATH", ""))
    return engine or installer.present(cache) or cache_key.present(cache)


def ensure(cache: Path, console: Console, meanwhile: Callable[[], None] = lambda: None) -> discover.Engine:
    """An engine, which is set up if there is none. ``meanwhile`` is called once during a long setup.

    Raises ``SetUpFailed`` if no engine can be set up.
    """
    engine, left_aside = discover.on_path(os.environ.get("PATH", ""))
    if engine := engine or installer.present(cache) or cache_key.present(cache):
        return engine
    for one in left_aside:
        console.print(f"engine: {one.pulumi} is not used: {one.reason}.", highlight=False, soft_wrap=True)
    if installer.reachable():
        console.print(
            "engine: not installed yet; downloading the official release ...", highlight=False, soft_wrap=True
        )
        meanwhile()
        if engine := installer.install(cache):
            console.print(
                f"engine: installed {engine.version}, kept in {engine.pulumi.parents[1]}",
                highlight=False,
                soft_wrap=True,
            )
            return engine
        console.print(
            "engine: the official release could not be installed; building instead.", highlight=False, soft_wrap=True
        )
        meanwhile = lambda: None  # noqa: E731 - it was shown
    else:
        console.print(
            "engine: not installed yet, and the official releases cannot be reached; building it (once).",
            highlight=False,
            soft_wrap=True,
        )
    try:
        return build.build(cache, console, meanwhile)
    except KeyboardInterrupt:
        console.print("engine: stopped; the next run continues building from here.", highlight=False, soft_wrap=True)
        raise
