"""The workflow's interface to a local cloud: exactly the parts in which the rehearsal and the laptop cloud differ."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, cast

from rich.console import Console

from localcloud.common.workdir import CloudKind, Workdir
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow.state import Pending

BACKENDS: dict[CloudKind, str] = {
    "rehearsal": "localcloud.rehearsal.Rehearsal",
    "laptop": "localcloud.cluster.backend.LaptopCloud",
}
"""The class of each kind of local cloud. Only this table depends on the kind."""


class Update(Protocol):
    """Runs the engine's update once and returns its status.

    The engine's own events go to the file ``events``; once ``watch`` returns true, the engine is stopped.
    """

    def __call__(self, events: Path | None = None, watch: Callable[[], bool] | None = None) -> int:
        """The engine's status; 130 if it was stopped, below 0 if it was killed."""
        ...


class Backend(Protocol):
    """One local cloud. Made with its folders; every method may be called when nothing runs.

    Properties that are only values are in :class:`~localcloud.common.workdir.CloudTraits`.
    """

    def check(self, stack: str | None) -> None:
        """What the stack's commands require, before anything is built. Raises ``BadInput``, ``Refused``,
        ``SetUpFailed`` or ``Stale``.
        """
        ...

    def install(self, console: Console, stack: str | None = None) -> Engine:
        """Makes the engine available, and all programs that the stack needs. Raises ``SetUpFailed``."""
        ...

    def start(self, engine: Engine, console: Console, stack: str | None = None) -> None:
        """Lays out the folder, and starts what runs between commands unless it runs."""
        ...

    def command_line(self, arguments: Sequence[str]) -> list[str]:
        """The command line that runs ``arguments`` where the providers' clouds can be reached.

        Raises ``Stale`` if that place does not exist, ``Refused`` if another machine could be reached from it.
        """
        ...

    def adapt_settings(self, copy: dict[str, object]) -> Sequence[str]:
        """Adapts the copy of a stack file to this cloud. Returns notes for the user."""
        ...

    def find_created(self, pending: Pending) -> Mapping[str, object] | None:
        """What the state needs of the object that an unfinished create made: ``id``, and ``outputs`` if they are more
        than its inputs. ``None`` if it made none.
        """
        ...

    def update(self, run: Update, console: Console) -> int:
        """Runs an update, and repeats it after a transient failure. Returns the engine's status."""
        ...

    def after_update(self, stack: str, status: int, console: Console) -> int:
        """Prints what the cloud knows about the end of an update, such as the causes of a failure.

        Returns the status, or 1 if a model of an updated stack does not answer.
        """
        ...

    def destroy(self, stacks: Sequence[str], console: Console) -> int:
        """Destroys and removes stacks, of which there is at least one. Returns 0, or the status of the first destroy
        that did not succeed.
        """
        ...

    def forget(self, console: Console, *, failed: bool, had_stacks: bool) -> int:
        """Removes the rest once no stack is left. Returns 1 if a destroy should have removed some of it."""
        ...

    def clear(self) -> None:
        """Stops everything and removes the folder."""
        ...

    def show_status(self, console: Console) -> None:
        """Prints the running processes of the cloud."""
        ...

    def tips(self) -> Mapping[str, str]:
        """Commands to try next, with what they do."""
        ...


def of(workdir: Workdir) -> Backend:
    """The backend of that folder."""
    module, _, name = BACKENDS[workdir.kind].rpartition(".")
    make = cast("Callable[[Workdir], Backend]", getattr(importlib.import_module(module), name))
    return make(workdir)
