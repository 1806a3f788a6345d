"""The rehearsal: real engine, stand-ins for Google Cloud and Kubernetes that keep their clouds in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from rich.console import Console

from localcloud.common.workdir import Workdir
from localcloud.workflow import cloud_files, local_settings
from localcloud.workflow.backend import Update
from localcloud.workflow.state import Lock, Pending


class Rehearsal:
    """See :class:`~localcloud.workflow.backend.Backend`, whose methods these are."""

    real_providers: Mapping[str, str] = {}
    disposable = False
    nothing_left = "no stack, no object in a cloud, no process"

    def __init__(self, workdir: Workdir) -> None:
        self.workdir = workdir

    def check(self) -> None:
        """Does nothing: the rehearsal needs only the engine."""

    def check_stack(self, stack: str) -> None:
        """Does nothing: the clouds are files, which the workflow compares with the state."""

    def ensure_binaries(self, console: Console, stack: str | None = None) -> None:
        """Does nothing: the providers are Python modules."""

    def start(self, console: Console, stack: str | None = None) -> None:
        """Does nothing: the engine starts the providers."""

    def tools(self) -> Mapping[str, str]:
        """No tools besides `pulumi`."""
        return {}

    def adapt_settings(self, copy: dict[str, object]) -> Sequence[str]:
        """Removes settings for which the rehearsal has no service."""
        return list(local_settings.without_billing(cast("dict[str, object]", copy["config"]), self.workdir.label))

    def check_isolation(self) -> None:
        """Does nothing: the providers open no connections."""

    def enter(self, arguments: Sequence[str]) -> list[str]:
        """``arguments`` unchanged: they run on this machine."""
        return list(arguments)

    def shell_environment(self) -> Mapping[str, str]:
        """No additional variables."""
        return {}

    def holds(self, lock: Lock) -> bool | None:
        """``None``: the lock's process number is one of this machine, which answers that."""
        return None

    def owns(self, pending: Pending) -> bool:
        """``False``: everything is in the stand-ins' files."""
        return False

    def find_created(self, pending: Pending) -> str | None:
        """Not called: the rehearsal owns no pending creates."""
        raise NotImplementedError

    def created_outputs(self, pending: Pending) -> Mapping[str, object]:
        """Not called: the rehearsal owns no pending creates."""
        raise NotImplementedError

    def update(self, run: Update, console: Console) -> int:
        """Runs the update once: the rehearsal has no transient failures."""
        return run()

    def after_up(self, stack: str, console: Console) -> int:
        """Returns 0: there are no servers to which a request could be sent."""
        return 0

    def explain_failure(self, console: Console) -> None:
        """Does nothing: the engine has printed the reason."""

    def tips(self) -> Mapping[str, str]:
        """A tip on the laptop cloud, since the outputs' URL does not answer in the rehearsal."""
        return {"make up CLOUD=laptop": "real Kubernetes and KServe; in the rehearsal the models' URLs do not answer"}

    def show_status(self, console: Console) -> None:
        """Prints nothing: no process runs between commands."""

    def nothing_to_destroy(self) -> str:
        """Empty: a stack whose cloud was removed can still be destroyed."""
        return ""

    def forget(self, console: Console, *, failed: bool, had_stacks: bool) -> int:
        """Removes and names objects that remain although no stack is left."""
        if failed:
            return 0
        return cloud_files.remove(self.workdir, console, had_stacks=had_stacks)

    def stop(self) -> None:
        """Does nothing: no process runs."""
