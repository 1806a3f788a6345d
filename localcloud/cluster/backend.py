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

from llmd_common.problems import Refused
from localcloud import binaries
from localcloud.cluster import (
    controllers,
    crashes,
    lifecycle,
    pending_creates,
    status_table,
    transient_errors,
)
from localcloud.common.environment import quote
from localcloud.common.layout import Layout
from localcloud.common.workdir import PACKAGES, Workdir
from localcloud.linux_namespaces import discover, inside, routes
from localcloud.workflow import cloud_files, local_settings, processes
from localcloud.workflow.backend import Update
from localcloud.workflow.runner import STOPPED
from localcloud.workflow.say import say
from localcloud.workflow.state import Lock, Pending

PLATFORM = "llmd-gke:platform"
FIELD_MANAGER = "__fieldManager"
"""Output of the Kubernetes provider with the field manager by which it applies an object."""

FAILED = 1


class LaptopCloud:
    """See :class:`~localcloud.workflow.backend.Backend`, whose methods these are."""

    real_providers: Mapping[str, str] = {
        "gcp": "pulumi-resource-gcp",
        "kubernetes": "pulumi-resource-kubernetes",
    }
    disposable = True
    nothing_left = "no stack, no process, no cluster"

    def __init__(self, workdir: Workdir) -> None:
        self.workdir = workdir

    def check(self) -> None:
        """Checks variables, rights, memory and disk."""
        lifecycle.check(self.workdir)

    def check_stack(self, stack: str) -> None:
        """Checks that the cluster's data still exist."""
        lifecycle.check_data(self.workdir, stack)

    def ensure_binaries(self, console: Console, stack: str | None = None) -> None:
        """Builds Kubernetes, KServe and what they need, and prepares charts and CRDs; those of the front door if the
        stack has one.
        """
        lifecycle.ensure_binaries(self.workdir, console, stack)

    def start(self, console: Console, stack: str | None = None) -> None:
        """Starts the namespaces with the cluster in them; with Prometheus if the stack needs its metrics."""
        lifecycle.start_cluster(self.workdir, console, stack)

    def tools(self) -> Mapping[str, str]:
        """`kubectl`, and the stub of Google's auth plugin."""
        python = f"PYTHONPATH={quote(str(PACKAGES))} exec {quote(sys.executable)} -m"
        home, kubeconfig = quote(str(self.workdir.home)), quote(str(Layout(self.workdir.home).kubeconfig))
        kubectl = quote(str(binaries.path("kubectl")))
        return {
            "kubectl": "#!/bin/sh\n# kubectl on the laptop cloud, as its administrator.\n"
            f"export KUBECONFIG={kubeconfig}\n"
            f'LLMD_GKE_HOME={home} {python} localcloud.linux_namespaces.inside {kubectl} "$@"\n',
            "gke-gcloud-auth-plugin": "#!/bin/sh\n# Stub of Google's: a token of the laptop cloud.\n"
            f"LLMD_GKE_HOME={home} {python} localcloud.cluster.auth_plugin\n",
        }

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

    def check_isolation(self) -> None:
        """Checks that no other machine can be reached from the namespaces."""
        present = discover.running(self.workdir.home)
        if present and (ways := routes.ways_out(present.init.pid)):
            raise Refused(
                f"The {self.workdir.label} must not reach Google Cloud, so it does not start: its network has a "
                "route to the outside "
                f"({', '.join(ways)}).\nFix: make down CLOUD=laptop, which stops it."
            )

    def enter(self, arguments: Sequence[str]) -> list[str]:
        """The command that runs ``arguments`` in the namespaces.

        Raises ``Stale`` if they no longer exist: outside, the real Kubernetes provider would use this machine's
        network.
        """
        return inside.command(self.workdir.home, arguments)

    def shell_environment(self) -> Mapping[str, str]:
        """Variables by which tools other than `kubectl` find the cluster, too."""
        return {"KUBECONFIG": str(Layout(self.workdir.home).kubeconfig)}

    def holds(self, lock: Lock) -> bool | None:
        """Whether the engine that made the lock runs: its process number may be one inside the namespaces."""
        return any(lock.pid in (one.pid, discover.inner_pid(one.pid)) for one in processes.engines(self.workdir))

    def owns(self, pending: Pending) -> bool:
        """Whether a pending create is one of the Kubernetes provider, whose objects are in the API server."""
        return pending.type.startswith(pending_creates.PROVIDER)

    def find_created(self, pending: Pending) -> str | None:
        """The identity of the object that a pending create made, according to the API server; ``None`` if there is
        none.
        """
        return pending_creates.find_created(self.workdir, pending)

    def created_outputs(self, pending: Pending) -> Mapping[str, object]:
        """The field manager, without which the object could not be changed."""
        field_manager = pending_creates.field_manager(self.workdir, pending)
        return {"outputs": {FIELD_MANAGER: field_manager}} if field_manager else {}

    def update(self, run: Update, console: Console) -> int:
        """Stops an update that waits for a process that keeps crashing; repeats one that failed for a transient
        reason.
        """
        watch = crashes.Watch(self.workdir, console)
        with tempfile.TemporaryDirectory(dir=self.workdir.home) as folder:
            events = Path(folder) / "events.jsonl"
            status = run(events=events, watch=watch)
            # Below 0: somebody killed the engine, so the update is not repeated.
            cause = transient_errors.cause(events) if status > 0 and status != STOPPED and not watch.cause else None
        if cause is None:
            return FAILED if status and watch.cause else status
        say(console, f"\n{cause}; retrying once.")
        controllers.wait(self.workdir, console)
        status = run(watch=watch)
        return FAILED if status and watch.cause else status

    def after_up(self, stack: str, console: Console) -> int:
        """Checks that every model answers through the gateway."""
        return lifecycle.ask_models(self.workdir, stack, console)

    def explain_failure(self, console: Console) -> None:
        """Prints the problems of the cluster."""
        lifecycle.diagnose(self.workdir, console)

    def tips(self) -> Mapping[str, str]:
        """Tips on `kubectl` and on the location of logs."""
        return {
            self.workdir.make("shell"): "pulumi, kubectl and curl inside: kubectl get llminferenceservices -A",
            self.workdir.make("status"): "running processes, their memory, and the location of logs",
            # Only `pulumi` and `kubectl` enter the namespaces by themselves.
            f"source {shlex.quote(str(self.workdir.env_script))}": "pulumi and kubectl in this shell, but no other "
            "command",
        }

    def show_status(self, console: Console) -> None:
        """Prints a table of the cluster's processes."""
        status_table.show(self.workdir, console)

    def nothing_to_destroy(self) -> str:
        """The reason why a destroy is skipped: without the cluster's data the provider would wait for deleted
        objects.
        """
        if lifecycle.has_data(self.workdir):
            return ""
        return "The cluster's data no longer exist; only the stacks' state is removed."

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
        destroyed = had_stacks and not self.nothing_to_destroy()
        lifecycle.remove_cluster(self.workdir)
        # Objects in the cluster are deleted with it; anything left in Google's file would also remain at Google.
        status = 0 if failed else cloud_files.remove(self.workdir, console, had_stacks=destroyed)
        for folder in (self.workdir.state, self.workdir.cloud, self.workdir.config):
            shutil.rmtree(folder, ignore_errors=True)
        return status

    def stop(self) -> None:
        """Stops the cluster and removes its files."""
        lifecycle.remove_cluster(self.workdir)
