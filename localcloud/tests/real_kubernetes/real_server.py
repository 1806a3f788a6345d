"""The stack ``vllm`` for tests: vLLM itself at its own path and behind the front door.

Skipped where its environment is not installed: ``.ci/full real_server`` and ``real_load`` install it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from llmd_common import bootstrap
from llmd_gke.settings.secret_keys import stand_in_key
from localcloud import binaries
from localcloud.cluster import front_door, vllm
from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.clients.asking import Endpoint
from localcloud.tests.real_kubernetes.harness import Laptop, brought_up
from localcloud.tests.real_kubernetes.programs import need, skip_unless_built
from localcloud.tests.real_kubernetes.serving import ask
from localcloud.workflow import state

STACK, MODEL, ADAPTER, CALLER = "vllm", "qwen", "sailor", "team-a"
KEY = stand_in_key(CALLER)
PATH, DOOR = "own path", "front door"
BLOCK = 128
"""Tokens that vLLM caches together on processors."""


@dataclass(frozen=True)
class Server:
    """The stack and its entrances."""

    laptop: Laptop
    entrances: Mapping[str, Endpoint]

    def metrics(self) -> dict[str, str]:
        """What each server exports, by the pod's address."""
        addresses = [pod["status"]["podIP"] for pod in models.servers(self.laptop)]
        return {one: ask(self.laptop, f"http://{one}:8000", {"path": "/metrics"})[0]["text"] for one in addresses}

    def sums(self, name: str) -> dict[str, float]:
        """The sum of a metric of each server, by the pod's address."""
        found: dict[str, float] = {}
        for address, text in self.metrics().items():
            lines = [line for line in text.splitlines() if line.startswith((f"{name} ", f"{name}{{"))]
            found[address] = sum(float(line.rpartition(" ")[2]) for line in lines)
        return found

    def root(self, entrance: str) -> str:
        """An entrance without ``/v1``."""
        return self.entrances[entrance].base.removesuffix("/v1")


@contextmanager
def server_up(
    folder: Path, change: Callable[[dict[str, Any]], None], *programs: str, **environment: str
) -> Generator[Server]:
    """The stack with its settings changed, and with the model's own path; ``programs`` are needed besides."""
    need(binaries.names())
    skip_unless_built((*front_door.PROGRAMS, *programs))
    if not bootstrap.is_beside(vllm.SET):
        pytest.skip(f"vLLM is not installed. Fix: python3 llmd_common/bootstrap.py --beside {vllm.SET}")

    def with_both(config: dict[str, Any]) -> None:
        config["llmd-gke:frontDoor"]["keepPaths"] = True
        change(config)

    with brought_up(folder, STACK, with_both, environment) as made:
        present = state.read(made.workdir, STACK)
        assert present is not None
        base, gateway = str(present.outputs["baseUrl"]), present.outputs["gatewayIp"]
        path = Endpoint(PATH, f"http://{gateway}/{objects.MODELS}/{MODEL}/v1", MODEL)
        yield Server(made, {PATH: path, DOOR: Endpoint(DOOR, base, MODEL, key=KEY)})
