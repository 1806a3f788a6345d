"""The rehearsal: the real engine, Google's real provider on an emulator, and a stand-in for Kubernetes."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import cast

from rich.console import Console

from localcloud import binaries
from localcloud.binaries.table import GOOGLE_PROVIDER
from localcloud.common.workdir import Workdir, cache_folder
from localcloud.pulumi_cli import resolve
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow import cloud_files, failures, home, interlock, local_settings, processes, removal
from localcloud.workflow.backend import Update
from localcloud.workflow.state import Pending


class Rehearsal:
    """See :class:`~localcloud.workflow.backend.Backend`, whose methods these are. Only the engine runs, and it starts
    the providers, which keep their objects in files.
    """

    def __init__(self, workdir: Workdir) -> None:
        self.workdir = workdir

    def check(self, stack: str | None) -> None:
        """Checks the project file."""
        interlock.check_project(self.workdir)

    def install(self, console: Console, stack: str | None = None) -> Engine:
        """Sets up the engine and Google's provider. The Kubernetes stand-in is a Python module."""
        cache = cache_folder()
        # By one builder: it compiles the standard library once, and downloads while it compiles.
        engine = resolve.ensure(cache, console, lambda say: binaries.to_build({GOOGLE_PROVIDER}, cache, say))
        binaries.ensure([GOOGLE_PROVIDER], console)
        return engine

    def start(self, engine: Engine, console: Console, stack: str | None = None) -> None:
        """Lays out the folder."""
        home.prepare(self.workdir, engine)

    def command_line(self, arguments: Sequence[str]) -> list[str]:
        """``arguments``: they run on this machine."""
        return list(arguments)

    def adapt_settings(self, copy: dict[str, object]) -> Sequence[str]:
        """Removes settings for which the rehearsal has no service."""
        return list(local_settings.without_billing(cast("dict[str, object]", copy["config"]), self.workdir.label))

    def find_created(self, pending: Pending) -> Mapping[str, object] | None:
        """The object's ID, according to the files of the stand-ins."""
        of_kubernetes = pending.type.startswith(cloud_files.KUBERNETES)
        return (cloud_files.find_in_cluster if of_kubernetes else cloud_files.find_at_google)(self.workdir, pending)

    def update(self, run: Update, console: Console) -> int:
        """Runs the update once: the rehearsal has no transient failures."""
        return run()

    def after_update(self, stack: str, status: int, console: Console) -> int:
        """Prints Google's errors. Models have no servers here that could be asked."""
        failures.say_outcome(self.workdir, stack, status, console)
        return status

    def destroy(self, stacks: Sequence[str], console: Console) -> int:
        """Destroys stacks, also those whose objects are gone."""
        return removal.destroy(self.workdir, stacks, console)

    def forget(self, console: Console, *, failed: bool, had_stacks: bool) -> int:
        """Removes and names objects that remain although no stack is left."""
        if failed:
            return 0
        return cloud_files.remove(self.workdir, console, had_stacks=had_stacks)

    def clear(self) -> None:
        """Removes the folder: no process runs between commands."""
        shutil.rmtree(self.workdir.home, ignore_errors=True)

    def show_status(self, console: Console) -> None:
        """Prints the number of engines and of their children."""
        processes.show(self.workdir, console)

    def tips(self) -> Mapping[str, str]:
        """A tip on the laptop cloud, since the outputs' URL does not answer in the rehearsal."""
        return {"make up CLOUD=laptop": "real Kubernetes and KServe; in the rehearsal the models' URLs do not answer"}
