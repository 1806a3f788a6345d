"""The workflow's interface to a local cloud: exactly the parts in which the rehearsal and the laptop cloud differ."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from rich.console import Console

from localcloud.common.workdir import CloudKind, Workdir

if TYPE_CHECKING:  # it imports, by way of the folders, this module
    from localcloud.workflow.state import Lock, Pending

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
    """One local cloud. Made with its folders; every method may be called when nothing runs."""

    @property
    def real_providers(self) -> Mapping[str, str]:
        """Provider name to the binary that is run instead of our stand-in."""
        ...

    @property
    def disposable(self) -> bool:
        """Whether `make down` removes everything even if a destroy failed."""
        ...

    @property
    def nothing_left(self) -> str:
        """A description of everything that `make down` has removed, for its last message."""
        ...

    def check(self) -> None:
        """Prerequisites, before anything is built. Raises ``BadInput`` or ``SetUpFailed``."""
        ...

    def check_stack(self, stack: str) -> None:
        """Raises ``Stale`` if objects of the stack's state no longer exist."""
        ...

    def ensure_binaries(self, console: Console, stack: str | None = None) -> None:
        """Builds or fetches what :meth:`start` needs, and what that stack needs in addition."""
        ...

    def start(self, console: Console, stack: str | None = None) -> None:
        """Starts the servers that providers call, and those that the stack needs in addition, unless they run."""
        ...

    def tools(self) -> Mapping[str, str]:
        """Scripts beside `pulumi` in the folder that is first on PATH: name to content."""
        ...

    def adapt_settings(self, copy: dict[str, object]) -> Sequence[str]:
        """Adapts the copy of a stack file to this cloud. Returns notes for the user."""
        ...

    def check_isolation(self) -> None:
        """Raises ``Refused`` if a process in it could reach another machine."""
        ...

    def enter(self, arguments: Sequence[str]) -> list[str]:
        """The command line that runs ``arguments`` where the providers' clouds can be reached."""
        ...

    def shell_environment(self) -> Mapping[str, str]:
        """Additional variables of an interactive shell."""
        ...

    def holds(self, lock: Lock) -> bool | None:
        """Whether the engine that made the lock runs; ``None`` if its process number tells that."""
        ...

    def owns(self, pending: Pending) -> bool:
        """Whether the object of an unfinished create would be in this cloud's own API, not in a stand-in's file."""
        ...

    def find_created(self, pending: Pending) -> str | None:
        """The id of the object that such a create made; ``None`` if it made none."""
        ...

    def created_outputs(self, pending: Pending) -> Mapping[str, object]:
        """Outputs that the state needs of such an object in addition to its id."""
        ...

    def update(self, run: Update, console: Console) -> int:
        """Runs an update, and repeats it after a transient failure. Returns the engine's status."""
        ...

    def after_up(self, stack: str, console: Console) -> int:
        """Checks that the models of a stack answer. Returns 0, or 1 if one does not."""
        ...

    def explain_failure(self, console: Console) -> None:
        """Prints problems of the cloud that may explain a failed update."""
        ...

    def tips(self) -> Mapping[str, str]:
        """Commands to try next, with what they do."""
        ...

    def show_status(self, console: Console) -> None:
        """Prints the processes of the cloud, other than engines."""
        ...

    def nothing_to_destroy(self) -> str:
        """The reason why no stack can be destroyed any more; empty if one can."""
        ...

    def forget(self, console: Console, *, failed: bool, had_stacks: bool) -> int:
        """Removes the rest once no stack is left. Returns 1 if a destroy should have removed some of it."""
        ...

    def stop(self) -> None:
        """Stops everything and removes its files."""
        ...


def of(workdir: Workdir) -> Backend:
    """The backend of that folder."""
    module, _, name = BACKENDS[workdir.kind].rpartition(".")
    make = cast("Callable[[Workdir], Backend]", getattr(importlib.import_module(module), name))
    return make(workdir)
