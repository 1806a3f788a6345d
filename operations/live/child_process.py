"""A process that a run follows line by line, and that has ended when the run goes on, whatever came between."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, cast

REST_SECONDS = 30
"""How long the last lines of a process that has ended may take: who inherited its output may hold it open."""

Stop = Sequence[tuple[signal.Signals, float]]
"""Signals, one after the other, and for how many seconds each may be the last."""


def follow(
    words: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    hear: Callable[[str], None],
    *,
    stop: Stop,
    group: bool,
    output: IO[str] | None = None,
    seconds: float | None = None,
) -> int:
    """Runs a command in ``folder`` and returns its status; ``hear`` gets each line when it comes, line end included.

    Those are the lines of stdout and stderr, of stderr alone where ``output`` takes the other. After ``seconds``, and
    on Ctrl-C, the command gets the signals of ``stop``, and with ``group`` what it has started gets them, too; when it
    has ended, ``subprocess.TimeoutExpired`` or the interrupt goes on. Raises ``OSError`` when it cannot be started.
    """
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if output is None else output,
        stderr=subprocess.STDOUT if output is None else subprocess.PIPE,
        text=True,
        errors="replace",
        # Ctrl-C of the terminal reaches us alone; we pass it on, once.
        start_new_session=True,
    )
    lines = cast("IO[str]", process.stdout or process.stderr)
    reader = threading.Thread(target=_read, args=(lines, hear), daemon=True)
    try:
        reader.start()
        return process.wait(seconds)
    except BaseException:
        _end(process, stop, group=group)
        raise
    finally:
        if reader.ident:
            reader.join(REST_SECONDS)


def _read(lines: IO[str], hear: Callable[[str], None]) -> None:
    for line in lines:
        hear(line)


def _end(process: subprocess.Popen[str], stop: Stop, *, group: bool) -> None:
    for number, patience in stop:
        try:
            if group:
                os.killpg(process.pid, number)
            else:
                process.send_signal(number)
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return
        return
