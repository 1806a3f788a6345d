"""The rehearsal: real engine, stand-ins for Google Cloud and Kubernetes that keep their clouds in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from localcloud.common.workdir import Workdir
from localcloud.workflow import cloud_files
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
        """Needs nothing but the engine."""

    def check_stack(self, stack: str) -> None:
        """Its clouds are files, which the workflow compares with the state."""

    def ensure_binaries(self, console: Console, stack: str | None = None) -> None:
        """Its providers are Python."""

    def start(self, console: Console) -> None:
        """The engine starts its providers."""

    def tools(self) -> Mapping[str, str]:
        """`pulumi` alone."""
        return {}

    def adapt_settings(self, copy: dict[str, object]) -> None:
        """Takes stack files as they are."""

    def check_isolation(self) -> None:
        """Its providers connect to nobody."""

    def enter(self, arguments: Sequence[str]) -> list[str]:
        """Runs them here."""
        return list(arguments)

    def shell_environment(self) -> Mapping[str, str]:
        """Nothing on top."""
        return {}

    def holds(self, lock: Lock) -> bool | None:
        """The process number is one of this machine."""
        return None

    def owns(self, pending: Pending) -> bool:
        """Everything is in the stand-ins' files."""
        return False

    def find_created(self, pending: Pending) -> str | None:
        """Never asked."""
        raise NotImplementedError

    def created_outputs(self, pending: Pending) -> Mapping[str, object]:
        """Never asked."""
        raise NotImplementedError

    def update(self, run: Update, console: Console) -> int:
        """Once: nothing in it fails by chance."""
        return run()

    def after_up(self, stack: str, console: Console) -> int:
        """No request can be served."""
        return 0

    def explain_failure(self, console: Console) -> None:
        """The engine has said it all."""

    def tips(self) -> Mapping[str, str]:
        """Where requests are answered: the URL in the outputs looks as if they were here."""
        return {"make up CLOUD=laptop": "real Kubernetes and KServe; in the rehearsal the models' URLs do not answer"}

    def show_status(self, console: Console) -> None:
        """Nothing runs between commands."""

    def nothing_to_destroy(self) -> str:
        """A stack whose cloud is gone is removed by itself."""
        return ""

    def forget(self, console: Console, *, failed: bool, had_stacks: bool) -> int:
        """With no stack left there must be no object either; what no stack knew is removed and named."""
        if failed:
            return 0
        return cloud_files.remove(self.workdir, console, had_stacks=had_stacks)

    def stop(self) -> None:
        """Nothing runs."""
