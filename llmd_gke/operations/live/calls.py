"""Another command of ours, by a process of its own: what it says on its way is shown, and Ctrl-C ends it in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, cast

from llmd_gke.laptop.paths import CLONE
from llmd_gke.operations.target import Target

STOP_SECONDS = 30
"""How long a command may take to end what it has started."""

WORDS = 600
"""Of a failed command's last words so many letters are kept."""


@dataclass(frozen=True)
class Done:
    """How it ended: status, result, and what it said besides."""

    status: int
    output: str
    said: str

    @property
    def last_words(self) -> str:
        """The end of what it said, for a report."""
        return self.said.strip()[-WORDS:]


def call(target: Target, *words: str, say: Callable[[str], None] | None = None) -> Done:
    """Runs ``llmd-gke`` with these words about ``target``. ``say`` gets each line of its progress.

    Ctrl-C is passed on, and the command has ended when the interrupt goes on.
    """
    named = ("--stack", target.stack, "--cloud", target.cloud.value)  # whatever $STACK and $CLOUD say
    process = subprocess.Popen(
        [sys.executable, "-m", "llmd_gke.operations", *words, *named],
        cwd=target.root,
        # The project's folder may be another one than this package's.
        env=os.environ | {"PYTHONPATH": str(CLONE)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        # Ctrl-C of the terminal reaches us alone; we pass it on, once.
        start_new_session=True,
    )
    said: list[str] = []
    reader = threading.Thread(target=_follow, args=(cast("IO[str]", process.stderr), said, say), daemon=True)
    try:
        reader.start()
        output = cast("IO[str]", process.stdout).read()
        status = process.wait()
    except BaseException:
        _stop(process)
        raise
    finally:
        if reader.ident:
            reader.join(STOP_SECONDS)
    return Done(status, output, "".join(said))


def _follow(lines: IO[str], said: list[str], say: Callable[[str], None] | None) -> None:
    for line in lines:
        said.append(line)
        if say is not None and line.strip():
            say(line.strip().removesuffix(" ..."))


def _stop(process: subprocess.Popen[str]) -> None:
    """Tells it to end, and ends it when it does not. What entered a laptop cloud ends with that at the latest."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process.send_signal(number)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return
