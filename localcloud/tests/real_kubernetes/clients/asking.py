"""The question that every client gets, the clients, and how one is asked from inside a laptop cloud."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from llmd_common import bootstrap
from localcloud.common.workdir import cache_folder
from localcloud.tests.real_kubernetes.harness import Laptop

HERE = Path(__file__).parent
SET = "clients"
"""The environment of the clients for Python (``localcloud/requirements/clients.txt``)."""

CLIENTS = ("openai (Python)", "openai (Node)")
PYTHON = {CLIENTS[0]: "openai_python.py", **dict.fromkeys(("anthropic", "LangChain", "LiteLLM"), "further.py")}
NODE = {CLIENTS[1]: "openai.mjs", "AI SDK": "ai.mjs"}
"""The program that asks with each library: with those for Python, and with those for Node."""
SHORT = "tell me of the sea"

NO_KEY = "no-key-is-needed-at-the-path-of-a-model"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Weather now", "parameters": SCHEMA}}]


@dataclass(frozen=True)
class Endpoint:
    """What a client is given. ``authority`` is the file of the certificate authority that signed the Gateway's."""

    name: str
    base: str
    model: str
    authority: Path | None = None
    key: str = NO_KEY

    def question(self, cases: Sequence[str]) -> dict[str, Any]:
        """What the programs read from standard input."""
        given = {"base": self.base, "key": self.key, "model": self.model, "cases": list(cases)}
        return {**given, "short": SHORT, "tools": TOOLS, "schema": SCHEMA}


@cache
def python() -> Path:
    """The Python with the clients."""
    if not bootstrap.is_beside(SET):
        pytest.skip("the clients' environment is not installed. Fix: python3 llmd_common/bootstrap.py --beside clients")
    return bootstrap.beside(SET)


@cache
def node_modules() -> Path:
    """The folder with the clients for Node, installed from the lock file, which npm checks by its hashes."""
    if shutil.which("npm") is None:
        pytest.skip("Node is not installed: it runs the clients from npm")
    folder = cache_folder() / f"clients-node-{_lock_hash()}"
    modules = folder / "node_modules"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(HERE / name, folder / name)
        # Scripts of packages are not run. The packages ask for Node 22 and work with 20, which npm warns about.
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        (folder / "complete").touch()
    return modules


def _lock_hash() -> str:
    return hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()[:12]


def ask(laptop: Laptop, client: str, endpoint: Endpoint, cases: Sequence[str]) -> Mapping[str, Any]:
    """What a client saw of an endpoint, by case."""
    if client in PYTHON:
        variables, command = {}, [str(python()), "-P", str(HERE / PYTHON[client]), client]
    else:
        variables, command = {"NODE_MODULES": str(node_modules())}, ["node", str(HERE / NODE[client])]
    if endpoint.authority:
        variables |= {"SSL_CERT_FILE": str(endpoint.authority), "NODE_EXTRA_CA_CERTS": str(endpoint.authority)}
    environment = [f"{name}={value}" for name, value in variables.items()]
    done = laptop.inside("env", *environment, *command, stdin=json.dumps(endpoint.question(cases)), timeout=300)
    seen = json.loads(done.stdout)
    assert list(seen) == list(cases)
    return seen
