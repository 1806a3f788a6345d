"""The laptop cloud as a backend of the workflow: real Kubernetes and KServe in namespaces of this machine."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from rich.console import Console

from llmd_common.problems import Busy, Problem
from localcloud import binaries
from localcloud.cluster import (
    controllers,
    crashes,
    lifecycle,
    pending_creates,
    status_table,
    transient_errors,
    vllm,
)
from localcloud.common.environment import quote
from localcloud.common.files import write
from localcloud.common.layout import Layout
from localcloud.common.workdir import PACKAGES, Workdir, cache_folder
from localcloud.linux_namespaces import inside
from localcloud.pulumi_cli import resolve
from localcloud.pulumi_cli.discover import Engine
from localcloud.workflow import cloud_files, failures, home, interlock, local_settings, processes, removal
from localcloud.workflow.backend import Update
from localcloud.workflow.runner import STOPPED
from localcloud.workflow.say import say
from localcloud.workflow.state import Pending

PLATFORM = "llmd-gke:platform"
FAILED = 1
RETRIES = 4
"""Repetitions of an update. What an update has installed stays, so each gets further on a busy machine."""


class LaptopCloud:
    """See :class:`~localcloud.workflow.backend.Backend`, whose methods these are."""

    def __init__(self, workdir: Workdir) -> None:
        self.workdir = workdir

    def check(self, stack: str | None) -> None:
        """Checks the project file, that the stack's cluster still exists, and variables, rights, memory and disk."""
        interlock.check_project(self.workdir)
        if stack is not None:
            lifecycle.check_data(self.workdir, stack)
        lifecycle.check(self.workdir, stack)

    def install(self, console: Console, stack: str | None = None) -> Engine:
        """Sets up the engine, builds Kubernetes, KServe and what they need, and prepares charts and CRDs; those of the
        front door if the stack has one.
        """
        engine = resolve.ensure(cache_folder(), console)
        lifecycle.ensure_binaries(self.workdir, console, stack)
        return engine

    def start(self, engine: Engine, console: Console, stack: str | None = None) -> None:
        """Lays out the folder and starts the namespaces with the cluster in them; with Prometheus if the stack needs
        its metrics.
        """
        home.prepare(self.workdir, engine)
        for name, content in tools(self.workdir).items():
            write(self.workdir.wrapper / name, content, 0o755)
        lifecycle.start_cluster(self.workdir, console, stack)

    def command_line(self, arguments: Sequence[str]) -> list[str]:
        """The command that runs ``arguments`` in the namespaces: outside, the real Kubernetes provider would use this
        machine's network.
        """
        return inside.command(self.workdir.home, arguments)

    def adapt_settings(self, copy: dict[str, object]) -> Sequence[str]:
        """Makes the Platform component install charts from a folder, because their registries cannot be reached.

        Removes settings that the laptop cloud does not support.
        """
        config = cast("dict[str, object]", copy["config"])
        platform = config.get(PLATFORM)
        kept: Mapping[str, object] = cast("dict[str, object]", platform) if isinstance(platform, dict) else {}
        config[PLATFORM] = {**kept, "chartFolder": str(self.workdir.charts)}
        label = self.workdir.label
        return [
            *local_settings.without_billing(config, label),
            *local_settings.unenforced_access(config, label),
        ]

    def find_created(self, pending: Pending) -> Mapping[str, object] | None:
        """The object's identity according to the API server, or to the emulator's file."""
        of_kubernetes = pending.type.startswith(cloud_files.KUBERNETES)
        return (pending_creates.find if of_kubernetes else cloud_files.find_at_google)(self.workdir, pending)

    def update(self, run: Update, console: Console) -> int:
        """Stops an update that waits for a process that keeps crashing; repeats one that failed for a transient
        reason, :data:`RETRIES` times.
        """
        watch, status = crashes.Watch(self.workdir, console), FAILED
        for left in reversed(range(RETRIES + 1)):
            with tempfile.TemporaryDirectory(dir=self.workdir.home) as folder:
                events = Path(folder) / "events.jsonl"
                status = run(events=events, watch=watch)
                # Below 0: somebody killed the engine, so the update is not repeated.
                passing = left > 0 and status > 0 and status != STOPPED and not watch.cause
                cause = transient_errors.cause(events) if passing else None
            if cause is None:
                break
            say(console, f"\n{cause}; trying again. Tries left: {left}.")
            controllers.wait(self.workdir, console)
        return FAILED if status and watch.cause else status

    def after_update(self, stack: str, status: int, console: Console) -> int:
        """Prints Google's errors, the answers of all models, and after a failure the problems of the cluster."""
        failures.say_outcome(self.workdir, stack, status, console)
        if status == 0:
            return lifecycle.ask_models(self.workdir, stack, console)
        if status != STOPPED:  # below 0, the whole cluster may have ended, and the engine with it
            lifecycle.diagnose(self.workdir, console)
        return status

    def destroy(self, stacks: Sequence[str], console: Console) -> int:
        """Destroys stacks unless the cluster's data are gone: the provider would wait for objects of it.

        What cannot be destroyed is a failure: the cluster can still be removed.
        """
        if not lifecycle.has_data(self.workdir):
            say(console, "The cluster's data no longer exist; only the stacks' state is removed.")
            return 0
        try:
            return removal.destroy(self.workdir, stacks, console)
        except Busy:
            raise
        except Problem as problem:
            say(console, str(problem))
            return FAILED

    def forget(self, console: Console, *, failed: bool, had_stacks: bool) -> int:
        """Stops everything and removes cluster, state and the stand-in's cloud. Logs stay after a failure."""
        if failed:
            lifecycle.diagnose(self.workdir, console)
            kept = self.workdir.home / "last-logs"
            shutil.rmtree(kept, ignore_errors=True)
            if (logs := Layout(self.workdir.home).logs).is_dir():
                shutil.copytree(logs, kept)
            say(
                console,
                "Destroying failed, see above. The laptop cloud is still removed with everything in it; on Google "
                f"Cloud some resources would remain. Logs are kept in {kept}.",
            )
        destroyed = had_stacks and lifecycle.has_data(self.workdir)
        lifecycle.remove_cluster(self.workdir)
        # Objects in the cluster are deleted with it; anything left in Google's file would also remain at Google.
        status = 0 if failed else cloud_files.remove(self.workdir, console, had_stacks=destroyed)
        for folder in (self.workdir.state, self.workdir.cloud, self.workdir.config):
            shutil.rmtree(folder, ignore_errors=True)
        return status

    def clear(self) -> None:
        """Stops the cluster and removes the folder."""
        lifecycle.remove_cluster(self.workdir)
        shutil.rmtree(self.workdir.home, ignore_errors=True)

    def show_status(self, console: Console) -> None:
        """Prints a table of the cluster's processes, how real model servers differ from those on a TPU, and the number
        of engines and of their children.
        """
        status_table.show(self.workdir, console)
        vllm.show(self.workdir, console)
        processes.show(self.workdir, console)

    def tips(self) -> Mapping[str, str]:
        """Tips on `kubectl` and on the location of logs."""
        return {
            self.workdir.make("shell"): "pulumi, kubectl and curl inside: kubectl get llminferenceservices -A",
            self.workdir.make("status"): "running processes, their memory, and the location of logs",
            # Only `pulumi` and `kubectl` enter the namespaces by themselves.
            f"source {shlex.quote(str(self.workdir.env_script))}": "pulumi and kubectl in this shell, but no other "
            "command",
        }


def tools(workdir: Workdir) -> Mapping[str, str]:
    """Scripts beside `pulumi`: `kubectl`, and the stub of Google's auth plugin. Name to content."""
    python = f"PYTHONPATH={quote(str(PACKAGES))} exec {quote(sys.executable)} -m"
    folder, kubeconfig = quote(str(workdir.home)), quote(str(Layout(workdir.home).kubeconfig))
    kubectl = quote(str(binaries.path("kubectl")))
    return {
        "kubectl": "#!/bin/sh\n# kubectl on the laptop cloud, as its administrator.\n"
        f"export KUBECONFIG={kubeconfig}\n"
        f'LLMD_GKE_HOME={folder} {python} localcloud.linux_namespaces.inside {kubectl} "$@"\n',
        "gke-gcloud-auth-plugin": "#!/bin/sh\n# Stub of Google's: a token of the laptop cloud.\n"
        f"LLMD_GKE_HOME={folder} {python} localcloud.cluster.auth_plugin\n",
    }
