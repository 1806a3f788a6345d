"""Runs another of our commands as a child process: shows its progress, and ends it in order on Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from llmd_gke.repository import CLONE
from localcloud.common.child_process import follow
from operations.target import Target

STOP = ((signal.SIGINT, 30), (signal.SIGTERM, 30), (signal.SIGKILL, 30))
"""Signals to end the command, each with the seconds to wait for it."""

MAX_CHARACTERS = 600
"""Characters that are kept of the end of a failed command's output."""


@dataclass(frozen=True)
class Done:
    """How a command ended: exit status, standard output, standard error."""

    status: int
    output: str
    errors: str

    @property
    def end_of_errors(self) -> str:
        """The end of what it said, for a report."""
        return self.errors.strip()[-MAX_CHARACTERS:]


def call(target: Target, *arguments: str, say: Callable[[str], None] | None = None) -> Done:
    """Runs ``llmd-gke`` with these words about ``target``. ``say`` gets each line of its progress.

    Ctrl-C is passed on, and the command has ended when the interrupt goes on.
    """
    named = ("--stack", target.stack, "--cloud", target.cloud.value)  # whatever $STACK and $CLOUD say
    errors: list[str] = []

    def hear(line: str) -> None:
        errors.append(line)
        if say is not None and line.strip():
            say(line.strip().removesuffix(" ..."))

    with tempfile.TemporaryFile("w+", errors="replace") as output:
        status = follow(
            [sys.executable, "-m", "operations", *arguments, *named],
            target.root,
            # The project's folder may be another one than this package's.
            os.environ | {"PYTHONPATH": str(CLONE)},
            hear,
            output=output,
            stop=STOP,
            group=False,  # it ends itself what it has started
        )
        output.seek(0)
        return Done(status, output.read(), "".join(errors))
