"""Runs the program without an engine and records the graph: every registration with its edges.

The official mocks drop parents, dependencies, providers and protection; a monitor of our own keeps the request.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import runpy
import sys
import warnings
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from google.protobuf import json_format

from llmd_gke.graph.resources import Graph, ResourceNode

__all__ = ["Graph", "ResourceNode", "load", "record"]


def record(
    root: Path,
    stack: str,
    config: Mapping[str, str],
    secrets: tuple[str, ...] = (),
    *,
    preview: bool = True,
    project: str = "llmd-gke",
) -> Graph:
    """Runs ``__main__.py`` in ``root`` as the engine would and returns the graph.

    ``config`` maps full keys to values as the engine passes them (structured ones as JSON text); ``secrets`` are the
    keys of secret values; ``project`` is the program's name. With ``preview`` outputs are unknown, as before the first
    ``up``; without, they are invented. Raises ``pulumi.RunError`` for invalid settings.
    """
    from pulumi.runtime import mocks, rpc, settings
    from pulumi.runtime import test as untyped  # pyright: ignore[reportUnknownVariableType] - Pulumi types it nowhere
    from pulumi.runtime.config import set_all_config

    from llmd_gke.graph.monitor import Invented, RecordingMonitor

    awaited = cast("Callable[[Callable[[], object]], Callable[[], None]]", untyped)
    _have_event_loop()
    graph = Graph()
    monitor = RecordingMonitor(Invented(preview), graph.nodes)
    settings.set_root_resource(None)  # pyright: ignore[reportArgumentType] - a stack of an earlier run must not stay
    set_all_config(dict(config), list(secrets))
    mocks.set_mocks(Invented(preview), project, stack, preview, logger=_quiet(), monitor=monitor)

    @awaited
    def run() -> None:
        runpy.run_path(str(root / "__main__.py"), run_name="__main__")

    @awaited
    async def outputs() -> None:
        exported = cast("dict[str, object]", settings.get_root_resource().outputs)  # type: ignore[union-attr]
        graph.outputs.update(json_format.MessageToDict(await rpc.serialize_properties(exported, {})))

    with _importable(root):
        run()
        outputs()
    return graph


def load(
    root: Path,
    stack: str,
    *,
    preview: bool = True,
    changes: Mapping[str, object] | None = None,
    plain: Collection[str] = (),
) -> Graph:
    """The graph of a stack file, with ``changes`` to its configuration (by full keys; ``None`` removes a key).

    Secrets are treated as encrypted, except those listed in ``plain``. Callers of a front door get made-up keys where
    the stack file has none yet: the graph is the same with any.
    """
    from llmd_gke.settings.load import read_config
    from llmd_gke.settings.secret_keys import CALLER_KEYS, NAMESPACE, is_secret_key

    config = {**read_config(root, stack), **(changes or {})}
    config = {key: value for key, value in config.items() if value is not None}
    door, keys = config.get(f"{NAMESPACE}:frontDoor"), f"{NAMESPACE}:{CALLER_KEYS}"
    if keys not in config and (made_up := _made_up_keys(door)):
        config[keys] = made_up
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    secrets = tuple(key for key in texts if is_secret_key(key) and key not in plain)
    return record(root, stack, texts, secrets, preview=preview)


def _made_up_keys(door: object) -> dict[str, str]:
    """A made-up key for each caller in the front door's settings; empty if callers have no keys."""
    if not isinstance(door, dict):
        return {}
    settings = cast("dict[str, object]", door)
    callers = settings.get("callers")
    if settings.get("identity", "keys") != "keys" or not isinstance(callers, list):
        return {}
    named = [cast("dict[str, str]", one)["name"] for one in cast("list[object]", callers) if isinstance(one, dict)]
    return {name: f"made-up-key-of-the-caller-{name}".ljust(40, "-") for name in named}


def _have_event_loop() -> None:
    """Gives the thread an event loop: Pulumi needs one, and ``asyncio.run`` leaves none behind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns if it has to create one
        try:
            closed = asyncio.get_event_loop().is_closed()
        except RuntimeError:
            closed = True
    if closed:
        asyncio.set_event_loop(asyncio.new_event_loop())


def _quiet() -> logging.Logger:
    logger = logging.getLogger("llmd-gke.recording")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


@contextmanager
def _importable(root: Path) -> Generator[None]:
    sys.path.insert(0, str(root))
    before = Path.cwd()
    os.chdir(root)
    try:
        yield
    finally:
        os.chdir(before)
        sys.path.remove(str(root))
