"""A laptop cloud of its own for tests: a copy of the project, a home, real Kubernetes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil

from llmd_gke.repository import CLONE
from localcloud.cluster import start
from localcloud.common import cluster_status as status
from localcloud.common.environment import clean
from localcloud.common.layout import Layout
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover, inside
from tests.real_engine.harness import Rehearsal, until

__all__ = ["CONTROL_PLANE", "Laptop", "brought_up", "until"]

CONTROL_PLANE = ("etcd", "kube-apiserver")
"""The smallest cluster that answers."""


class Laptop(Rehearsal):
    """One project folder and its laptop cloud. Commands run as users run them."""

    longest_seconds = 1800
    """Real servers need minutes, and updates wait for them."""
    first_up = ""
    """What `up` said that brought up a stack which tests share."""

    @property
    def workdir(self) -> Workdir:
        return Workdir(self.root, self.folder / "home", "laptop")

    @property
    def layout(self) -> Layout:
        return Layout(self.workdir.home)

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, "LLMD_GKE_CLOUD": "laptop"}

    # -- running -----------------------------------------------------------------------------------------------------

    def cluster(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """``python -m localcloud cluster ...``: the cluster alone."""
        return self.make("cluster", *arguments, check=check)

    def start(self, *only: str) -> None:
        """Starts the cluster alone, with some of its processes or with all."""
        self.cluster("start", *(word for name in only for word in ("--only", name)))

    def emulator_faults(self, *faults: dict[str, object]) -> None:
        """Faults of Google's APIs from now on (localcloud/docs/google-emulator.md); none ends them."""
        self.make("google", "faults", json.dumps(faults))

    def inside(
        self, *command: str, check: bool = True, stdin: str | None = None, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in the namespaces; ``kubectl`` is on its PATH, with the administrator's kubeconfig."""
        done = subprocess.run(
            inside.command(self.workdir.home, command),
            env=self.inner_environment,
            cwd=self.folder,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
        )
        if check:
            assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
        return done

    def python(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs Python source in the namespaces, with this clone's packages."""
        return self.inside(sys.executable, "-P", "-c", program, *arguments)

    def kubectl(self, *arguments: str, check: bool = True, stdin: str | None = None) -> str:
        """What ``kubectl`` prints; fails the test with its message when it fails."""
        return self.inside("kubectl", *arguments, check=check, stdin=stdin).stdout

    def get(self, *arguments: str) -> Any:
        """``kubectl get ... -o json`` as data; ``None`` for one object that is not there."""
        printed = self.kubectl("get", *arguments, "--ignore-not-found", "-o", "json")
        return json.loads(printed) if printed.strip() else None

    def apply(self, *objects: dict[str, Any]) -> None:
        """Server-side apply of objects given as data; the server validates, kubectl would load all schemas first."""
        content = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        how = ("--server-side", "--force-conflicts", "--field-manager=tests", "--validate=false")
        self.kubectl("apply", *how, "-f", "-", stdin=json.dumps(content))

    @property
    def inner_environment(self) -> dict[str, str]:
        """What commands in the namespaces get."""
        return clean(self.environment, self.workdir) | {
            "KUBECONFIG": str(self.layout.kubeconfig),
            "PYTHONPATH": str(CLONE),
        }

    def entered(self, command: list[str]) -> list[str]:
        return inside.command(self.workdir.home, command)

    @contextmanager
    def beside(self, *arguments: str, file: Path, seconds: float, **environment: str) -> Generator[None]:
        """A Python program in the namespaces that prints to ``file`` for as long as the block lasts.

        It ends when its input does, within ``seconds``.
        """
        with file.open("w") as out:
            program = subprocess.Popen(
                self.entered([sys.executable, "-P", *arguments]),
                env=self.inner_environment | environment,
                cwd=self.folder,
                stdin=subprocess.PIPE,
                stdout=out,
            )
            try:
                yield
            finally:
                program.communicate(timeout=seconds)
        assert program.returncode == 0

    # -- looking -----------------------------------------------------------------------------------------------------

    def namespaces(self) -> discover.NamespacedCluster | None:
        """The namespaces, when they exist."""
        return discover.running(self.workdir.home)

    def status(self) -> status.Status:
        """What the supervisor says."""
        state = status.read(self.layout.status)
        assert state is not None, "the supervisor has said nothing"
        return state

    def process(self, name: str) -> status.ProcessStatus:
        """What the supervisor says of one process."""
        return next(one for one in self.status().processes if one.name == name)

    def outer(self, name: str) -> psutil.Process | None:
        """That process as numbered outside, ``None`` when it does not run."""
        namespaces, pid = self.namespaces(), self.process(name).pid
        if namespaces is None or not pid:
            return None
        return next((one for one in namespaces.processes() if discover.inner_pid(one.pid) == pid), None)

    def log(self, name: str) -> str:
        """The log of one process."""
        file = self.layout.log(name)
        return file.read_text(errors="replace") if file.exists() else ""

    def everything(self) -> list[psutil.Process]:
        """Whatever runs with this home in its environment, inside or outside."""
        return list(with_home(self.workdir.home))

    def stop_everything(self) -> None:
        super().stop_everything()
        start.stop(self.workdir)


@contextmanager
def brought_up(
    folder: Path,
    stack: str = "local",
    change: Callable[[dict[str, Any]], None] | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
    running: list[Laptop] | None = None,
) -> Generator[Laptop]:
    """A laptop cloud with a stack up, its settings changed, and environment; it ends with the block.

    ``running``: where it is noted, so that it can be ended before.
    """
    made = Laptop(folder)
    if running is not None:
        running.append(made)
    made.environ |= environment
    made.copy_project()
    if change:
        made.edit(stack, change)
    try:
        made.first_up = made.up(stack).stdout
        yield made
    finally:
        made.stop_everything()


def with_home(home: Path) -> Iterator[psutil.Process]:
    """Processes of a laptop cloud, by their environment."""
    for one in psutil.process_iter():
        try:
            if one.pid != os.getpid() and one.environ().get("LLMD_GKE_HOME") == str(home):
                yield one
        except psutil.Error:
            continue


def mounts_below(folder: Path) -> Sequence[str]:
    """What is mounted at or below a folder, as this process sees it."""
    return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(folder) in line]
