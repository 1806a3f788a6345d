"""Runs ``kubectl`` to list the pods of a model, and to forward a port of a pod.

``kubectl port-forward`` connects inside the pod's network namespace, to which NetworkPolicies do not apply. The API
server's pod proxy does not work on GKE: its requests come from an agent's pod, which the models' NetworkPolicies do not
admit.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from llmd_common import child_process
from llmd_common.kubernetes.fields import Object, being_deleted, condition_is_true, each, name, text
from llmd_gke.catalog import kserve
from operations.exits import Failed, SetUpFailed, Unreachable

ANSWER_SECONDS = 30
"""Seconds that the API server may take to answer, and a forwarded port to open."""

FORWARDING = re.compile(r"Forwarding from 127\.0\.0\.1:(\d+) ->")


@dataclass(frozen=True)
class Kubectl:
    """Runs ``kubectl`` with ``options`` that select the cluster."""

    options: Sequence[str]

    def servers(self, namespace: str, model: str) -> list[Object]:
        """The pods that answer requests to a model, sorted by name; only the leader of a group of hosts.

        Raises ``SetUpFailed`` if kubectl is missing, and ``Unreachable`` if the cluster does not answer.
        """
        labels = f"{kserve.NAME}={model},{kserve.OWN_COMPONENT}={kserve.WORKLOAD}"
        command = self._command("get", "pods", "-n", namespace, "-l", labels, "-o", "json")
        try:
            done = child_process.run(command, seconds=ANSWER_SECONDS)
        except subprocess.TimeoutExpired:
            raise Unreachable(_unreachable(f"no answer within {ANSWER_SECONDS} s")) from None
        if done.returncode:
            raise Unreachable(_unreachable(" ".join(done.stderr.split())[-300:]))
        return sorted(each(json.loads(done.stdout), "items"), key=name)

    @contextmanager
    def forwarded(self, namespace: str, pod: str, port: int) -> Generator[str]:
        """A context with a base URL on the loopback interface that is forwarded to a pod's port. Raises ``Failed`` if
        forwarding fails.
        """
        process = subprocess.Popen(
            self._command("port-forward", "-n", namespace, "--address=127.0.0.1", f"pod/{pod}", f":{port}"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        late = threading.Timer(ANSWER_SECONDS, _kill, [process])
        late.start()
        try:
            opened = FORWARDING.search(process.stdout.readline() if process.stdout else "")
            late.cancel()
            if opened is None:
                _kill(process)
                error = " ".join(process.communicate()[1].split())[-300:] or f"no output within {ANSWER_SECONDS} s"
                raise Failed(
                    f"kubectl port-forward to {namespace}/{pod} failed: {error}\n"
                    f"Fix: kubectl -n {namespace} describe pod {pod}; the caller needs container.pods.portForward"
                )
            yield f"http://127.0.0.1:{opened[1]}"
        finally:
            late.cancel()
            _kill(process)
            process.communicate()

    def _command(self, *arguments: str) -> list[str]:
        program = shutil.which("kubectl")
        if program is None:
            raise SetUpFailed("`kubectl` is not on PATH.\nFix: gcloud components install kubectl")
        return [program, *self.options, *arguments]


def _kill(process: subprocess.Popen[str]) -> None:
    """Kills kubectl and its credential plugin, which keeps standard error open as long as it runs."""
    if process.returncode is None:  # the process id is not reused before the process is waited for
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def by_kubeconfig(content: str) -> Generator[Kubectl]:
    """A context with ``kubectl`` for a kubeconfig, which is in a temporary file that only this user can read."""
    with tempfile.NamedTemporaryFile("w", prefix="llmd-gke-", suffix=".yaml") as file:
        file.write(content)
        file.flush()
        yield Kubectl(("--kubeconfig", file.name))


def is_ready(pod: Object) -> bool:
    """Whether a pod is ready, and so gets requests from the gateway."""
    return condition_is_true(pod, "Ready") and not being_deleted(pod)


def is_finished(pod: Object) -> bool:
    """Whether a pod has terminated, as an evicted one has: nothing listens there, and another pod replaces it."""
    return text(pod, "status", "phase") in ("Failed", "Succeeded")


def _unreachable(error: str) -> str:
    return (
        f"kubectl cannot list the pods: {error}\n"
        "Fix: gcloud auth login; a private endpoint is reachable only from its VPC and from authorized networks "
        "(cluster.authorizedNetworks, docs/security.md); --context NAME uses a context of your own kubeconfig"
    )
