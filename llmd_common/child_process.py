"""Runs child processes: to their end, for a short answer, or followed line by line; and stops them.

ruff (TID251) refuses other modules that start processes; ``pyproject.toml`` lists those that may, with the reasons.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import IO, cast

REST_SECONDS = 30
"""Seconds to wait for the last lines of a process that has ended: its children may hold its output open."""

Stop = Sequence[tuple[signal.Signals, float]]
"""Signals that end a process, in order, each with the seconds to wait for it."""


def run(
    command: Sequence[str | Path],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: str = "",
    seconds: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end and returns its status, output and error output; the caller checks the status.

    ``folder`` and ``environment`` default to those of this process, ``seconds`` to no time limit. The command reads
    ``stdin``, never the terminal. Raises ``OSError`` if it cannot be started, and ``subprocess.TimeoutExpired``.
    """
    return subprocess.run(
        command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True, timeout=seconds, check=False
    )


def output_of(
    command: Sequence[str | Path], *, seconds: float, environment: Mapping[str, str] | None = None
) -> str | None:
    """The output of a command, stripped; ``None`` if it cannot be run, fails, or takes longer than ``seconds``."""
    try:
        done = run(command, environment=environment, seconds=seconds)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def follow(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    hear: Callable[[str], None],
    *,
    stop: Stop,
    group: bool,
    output: IO[str] | None = None,
    seconds: float | None = None,
    pass_fds: Sequence[int] = (),
) -> int:
    """Runs a command in ``folder`` and returns its status; ``hear`` gets each line when it comes, line end included.

    Those are the lines of stdout and stderr, of stderr alone where ``output`` takes the other. After ``seconds``, and
    on Ctrl-C, the command gets the signals of ``stop``, and with ``group`` what it has started gets them, too; when it
    has ended, ``subprocess.TimeoutExpired`` or the interrupt goes on. Raises ``OSError`` when it cannot be started, and
    what ``hear`` has raised, once the command has ended; it is not called again then. The command inherits
    ``pass_fds``.
    """
    failures = list[Exception]()
    reader: threading.Thread | None = None
    streams = (subprocess.PIPE, subprocess.STDOUT) if output is None else (output, subprocess.PIPE)
    try:
        with _started(
            arguments, folder, environment, streams=streams, stop=stop, group=group, pass_fds=pass_fds
        ) as process:
            lines = cast("IO[str]", process.stdout or process.stderr)
            reader = threading.Thread(target=_read, args=(lines, hear, failures), daemon=True)
            reader.start()
            status = process.wait(seconds)
    finally:
        if reader is not None and reader.ident:
            reader.join(REST_SECONDS)
    if failures:
        raise failures[0]
    return status


@contextlib.contextmanager
def beside(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], *, stop: Stop, pass_fds: Sequence[int] = ()
) -> Generator[None]:
    """Runs a command in ``folder`` during the block, and ends it and what it has started at the end of the block.

    What it prints is lost. The command inherits ``pass_fds``. Raises ``OSError`` when it cannot be started.
    """
    nowhere = (subprocess.DEVNULL, subprocess.DEVNULL)
    with _started(arguments, folder, environment, streams=nowhere, stop=stop, pass_fds=pass_fds) as process:
        yield
        end(process, stop)


@contextlib.contextmanager
def _started(
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    streams: tuple[int | IO[str], int],
    stop: Stop,
    group: bool = True,
    pass_fds: Sequence[int] = (),
) -> Generator[subprocess.Popen[str]]:
    """A command that is ended if the block, or its start, raises. ``streams``: its stdout and stderr."""
    process: subprocess.Popen[str] | None = None
    try:
        with interrupts_wait():
            process = subprocess.Popen(
                arguments,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=streams[0],
                stderr=streams[1],
                text=True,
                errors="replace",
                # Ctrl-C of the terminal reaches us alone; we pass it on, once.
                start_new_session=True,
                pass_fds=pass_fds,
            )
        yield process
    except BaseException:
        if process is not None:
            end(process, stop, group=group)
        raise


@contextlib.contextmanager
def interrupts_wait() -> Generator[None]:
    """Defers Ctrl-C, SIGTERM and SIGHUP to the end of the block, so that no process that is being started is lost.

    Does nothing outside the main thread, which alone gets signals. Ignored signals stay ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    heard = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in heard:
        signal.signal(number, lambda number, _: arrived.append(number))
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)
        for number in arrived:
            signal.raise_signal(number)


def _read(lines: IO[str], hear: Callable[[str], None], failures: list[Exception]) -> None:
    """Reads to the end, whatever ``hear`` raises: otherwise the command would block at a full pipe."""
    for line in lines:
        if failures:
            continue
        try:
            hear(line)
        except Exception as error:
            failures.append(error)


def end(process: subprocess.Popen[str], stop: Stop, *, group: bool = True) -> None:
    """Sends the signals of ``stop``, to all of its group or to the process alone, until the process has ended.

    Ctrl-C meanwhile sends the next one at once: the process never outlives this.
    """
    for number, patience in stop:
        try:
            if group:
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
            process.wait(patience)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            continue
        except ProcessLookupError:
            return
        return
