"""Faults in the models of a laptop cloud that pass again: processes that hang or end, slow servers, load."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.streams import SET

SERVER, PICKER = "llm-d-inference-sim", "endpoint-picker"
"""Names of the programs' files."""

_LOAD = """
import json, sys, threading, httpx
url, at_once, body = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
over = threading.Event()

def ask():
    with httpx.Client(trust_env=False, timeout=120) as client:
        while not over.is_set():
            try:
                client.post(f"{url}/v1/completions", json=body)
            except httpx.HTTPError:
                pass

clients = [threading.Thread(target=ask) for _ in range(at_once)]
for one in clients:
    one.start()
sys.stdin.read()
over.set()
for one in clients:
    one.join()
"""
"""Clients that ask, wait for the answer and ask again, until standard input ends."""


def processes(laptop: Laptop, program: str, pod: str) -> list[psutil.Process]:
    """What runs of a program in a pod."""
    return [one for one in psutil.process_iter() if _is(one, program, pod) and _belongs(one, str(laptop.workdir.home))]


def _is(process: psutil.Process, program: str, pod: str) -> bool:
    try:
        name, *_ = process.cmdline() or [""]
        return name.endswith(f"/{program}") and process.environ().get("HOSTNAME") == pod
    except psutil.Error:
        return False


def _belongs(process: psutil.Process, home: str) -> bool:
    """Pods have an environment and process numbers of their own; those who started them have the laptop cloud's."""
    try:
        return any(one.environ().get("LLMD_GKE_HOME") == home for one in process.parents() if one.pid > 1)
    except psutil.Error:
        return False


@contextmanager
def hanging(laptop: Laptop, program: str, pods: list[str]) -> Generator[None]:
    """The program does nothing in those pods meanwhile: no answer, no end."""
    stopped = [one for pod in pods for one in processes(laptop, program, pod)]
    assert len(stopped) == len(pods), f"{program} runs {len(stopped)} times in {pods}"
    for one in stopped:
        one.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for one in stopped:
            if one.is_running():
                one.send_signal(signal.SIGCONT)


def kill(laptop: Laptop, program: str, pod: str) -> None:
    """Ends the program in that pod, once it runs."""
    (process, *_) = until(lambda: processes(laptop, program, pod), f"{program} in {pod}", 90)
    process.kill()


def configure(laptop: Laptop, pods: list[objects.Object], **settings: Any) -> None:
    """Changes what the simulators in those pods do (llm-d-inference-sim, ``/admin/config``)."""
    changed = {name.replace("_", "-"): value for name, value in settings.items()}
    laptop.python(SET, json.dumps(changed), *(pod["status"]["podIP"] for pod in pods))


@contextmanager
def another_server(laptop: Laptop, like: objects.Object, simulator: str) -> Generator[None]:
    """A server beside those of a model, with its labels and more arguments of the simulator, on a node without chips.

    For what the simulator does only from its start, such as metrics that are made up.
    """
    (main,) = [one for one in like["spec"]["containers"] if one["name"] == "main"]
    name, namespace = "another-server", like["metadata"]["namespace"]
    # Without the hash no ReplicaSet takes it for its own.
    labels = {key: value for key, value in like["metadata"]["labels"].items() if key != "pod-template-hash"}
    container = {key: main[key] for key in ("name", "image", "command", "args", "securityContext") if key in main}
    container["env"] = [*main.get("env", []), {"name": "LLMD_GKE_SIMULATOR_ARGS", "value": simulator}]
    spec = {"containers": [container], "terminationGracePeriodSeconds": 2, "automountServiceAccountToken": False}
    if "securityContext" in like["spec"]:
        spec["securityContext"] = like["spec"]["securityContext"]
    meta = {"name": name, "namespace": namespace, "labels": labels}
    laptop.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    try:
        yield
    finally:
        laptop.kubectl("delete", "pod", name, "-n", namespace)


@contextmanager
def load(laptop: Laptop, url: str, model: str, at_once: int, tokens: int) -> Generator[None]:
    """So many clients, each with one request at a time, whose answer has so many tokens: the simulator echoes."""
    body = json.dumps({"model": model, "prompt": " ".join(["word"] * tokens), "max_tokens": tokens})
    with laptop.beside("-c", _LOAD, url, str(at_once), body, file=Path(os.devnull), seconds=180):
        yield
