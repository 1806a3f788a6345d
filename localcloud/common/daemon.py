"""Starts and stops the laptop cloud's own daemons: their folder, log, signals and exit status."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from llmd_common.problems import BadInput, Problem
from localcloud.common.layout import Layout

log = logging.getLogger(__name__)

HOME = "LLMD_GKE_HOME"
STOP_SECONDS = 5.0
RESTART_SECONDS = 2.0

Main = Callable[[Layout], Coroutine[object, object, None]]
"""A daemon: it serves the cluster in that folder until it is cancelled."""


def run(main: Main) -> NoReturn:
    """Runs a daemon for the cluster of ``$LLMD_GKE_HOME`` until SIGTERM or SIGINT, which cancel it, then exits.

    Exit status: 0 if it was stopped or ended by itself; a :class:`Problem`'s own, with its message and no traceback,
    also when it comes out of a task group.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs every request
    status = 0
    try:
        asyncio.run(_until_told(main))
    except* Problem as group:
        # An exception raised here, even SystemExit, would be wrapped in another group.
        for problem in _each(group):
            print(problem, file=sys.stderr)
            status = problem.status
    sys.exit(status)


def ready(layout: Layout, name: str) -> None:
    """Tells the supervisor that the daemon of that name serves: until then its end counts as a failed start."""
    layout.mark(name).touch()


async def end(process: asyncio.subprocess.Process, seconds: float) -> None:
    """Ends a program with SIGTERM, and kills it after ``seconds``."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        process.kill()
        await process.wait()


async def keep(command: Sequence[str], log_file: Path) -> None:
    """Runs a program until cancelled, again when it exits; the log file of the run before is overwritten."""
    while True:
        with log_file.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
            )
        try:
            code = await process.wait()
        finally:
            await end(process, STOP_SECONDS)
        log.warning("%s exited with status %s; its log: %s", Path(command[0]).name, code, log_file)
        await asyncio.sleep(RESTART_SECONDS)


async def _until_told(main: Main) -> None:
    task = asyncio.create_task(main(_layout()))

    def stop() -> None:
        if not task.cancelling():  # a second signal would interrupt the shutdown that the first one began
            task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _layout() -> Layout:
    home = os.environ.get(HOME)
    if not home:
        raise BadInput(
            f"{HOME} is not set: it names the folder of a laptop cloud.\nFix: make up CLOUD=laptop, which starts "
            "everything"
        )
    return Layout(Path(home))


def _each(group: BaseExceptionGroup[Problem]) -> Iterator[Problem]:
    for one in group.exceptions:
        if isinstance(one, BaseExceptionGroup):
            yield from _each(one)
        else:
            yield one
