"""Runs another of our commands as a child process: shows its progress, and stops it cleanly on Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from llmd_common.child_process import follow
from llmd_gke.repository import CLONE
from operations.target import Target

STOP = ((signal.SIGINT, 30), (signal.SIGTERM, 30), (signal.SIGKILL, 30))
"""Signals that stop the command, each with the seconds to wait after it."""

MAX_CHARACTERS = 600
"""Number of characters kept from the end of a failed command's output."""


@dataclass(frozen=True)
class Done:
    """The result of a command: exit status, standard output, standard error."""

    status: int
    output: str
    errors: str

    @property
    def end_of_errors(self) -> str:
        """The end of its error output, for a report."""
        return self.errors.strip()[-MAX_CHARACTERS:]


def call(target: Target, *arguments: str, say: Callable[[str], None] | None = None) -> Done:
    """Runs ``llmd-gke`` with these arguments for ``target``. ``say`` gets each line of its progress.

    Ctrl-C is passed on to the command, and raised here once the command has ended.
    """
    named = ("--stack", target.stack, "--cloud", target.cloud.value)  # regardless of $STACK and $CLOUD
    errors: list[str] = []

    def hear(line: str) -> None:
        errors.append(line)
        if say is not None and line.strip():
            say(line.strip().removesuffix(" ..."))

    with tempfile.TemporaryFile("w+", errors="replace") as output:
        status = follow(
            [sys.executable, "-m", "operations", *arguments, *named],
            target.root,
            # The project's folder may differ from this package's.
            os.environ | {"PYTHONPATH": str(CLONE)},
            hear,
            output=output,
            stop=STOP,
            group=False,  # it stops the processes that it started
        )
        output.seek(0)
        return Done(status, output.read(), "".join(errors))
