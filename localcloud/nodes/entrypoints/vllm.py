#!/opt/bin/python3
"""``vllm serve`` in the laptop cloud: the llm-d simulator, with those of vLLM's arguments that it knows.

Options of the simulator: llm-d/llm-d-inference-sim v0.10.2 ``pkg/common/config.go``; of vLLM:
https://docs.vllm.ai/en/latest/cli/serve/. Options that only one of them has are dropped, with a line in the log.
``LLMD_GKE_SIMULATOR_ARGS`` adds arguments (``--time-to-first-token 200ms``), ``LLMD_GKE_MODEL_START_SECONDS`` a pause
before the server opens its port, as loading and compiling take. Workers of a LeaderWorkerSet only stay up: the leader
serves.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Mapping

SIMULATOR = "/opt/bin/llm-d-inference-sim"

SHARED = {
    "--port",
    "--served-model-name",
    "--max-num-seqs",
    "--max-model-len",
    "--lora-modules",
    "--max-loras",
    "--max-cpu-loras",
    "--block-size",
    "--seed",
    "--ssl-certfile",
    "--ssl-keyfile",
}
"""Options that both have, with the same meaning."""

SEVERAL = {"--served-model-name", "--lora-modules", "--allowed-origins", "--middleware"}
"""Options that take all words up to the next option."""

INSTEAD = {
    "--mode": "echo",
    # No tokenizer can be downloaded: there is no network.
    "--force-dummy-tokenizer": "",
    # The simulator's own limits are smaller than vLLM's defaults, or than what vLLM reads from the model.
    "--max-num-seqs": "256",
    "--max-model-len": "8192",
    "--max-request-body-size-mb": "64",
}
"""Options for the simulator, unless given."""

ENTRIES = 10_000_000
"""The simulator sets aside 8 bytes for every token of every request that runs or waits (``metrics.go``): with a long
context fewer may wait."""


def options(argv: list[str]) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Positional words, and options with their values: ``--a=b`` and ``--a b`` are the same."""
    positional: list[str] = []
    flags: list[tuple[str, list[str]]] = []
    for word in argv:
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            flags.append((name.replace("_", "-"), [value] if equals else []))
        elif word.startswith("-") and len(word) == 2 and word[1].isalpha():
            flags.append((word, []))
        elif flags and (not flags[-1][1] or flags[-1][0] in SEVERAL):
            flags[-1][1].append(word)
        else:
            positional.append(word)
    return positional, flags


def translate(argv: list[str], environment: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The simulator's arguments for those of ``vllm serve``, and what was dropped."""
    positional, flags = options(argv)
    extra = shlex.split(environment.get("LLMD_GKE_SIMULATOR_ARGS", ""))
    given = {name: values for name, values in flags if name in SHARED}
    dropped = [" ".join([name, *values]) for name, values in flags if name not in SHARED and name != "--model"]
    own = {name for name, _ in options(extra)[1]}
    model = next((values[0] for name, values in flags if name == "--model" and values), None)
    model = model or (positional[0] if positional else "/mnt/models")
    arguments = ["--model", (given.get("--served-model-name") or [model])[0]]
    for name, default in INSTEAD.items():
        if name not in given and name not in own:
            arguments += [name, default] if default else [name]
    for name, values in given.items():
        if name not in own:
            arguments += [name, *values]
    if "--max-waiting-queue-length" not in own:
        arguments += ["--max-waiting-queue-length", str(_waiting(given))]
    return [*arguments, *extra], dropped + positional[1:]


def _waiting(given: Mapping[str, list[str]]) -> int:
    """Maximum number of waiting requests."""
    length, running = (int((given.get(name) or [INSTEAD[name]])[0]) for name in ("--max-model-len", "--max-num-seqs"))
    return max(50, min(1000, ENTRIES // length - running))


def say(text: str) -> None:
    """A line in the container's log."""
    print(f"laptop cloud: {text}", flush=True)


def main(argv: list[str]) -> None:
    """Executes the simulator; never returns."""
    # As the first process of a container it would ignore the signal.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    if argv[:1] == ["--version"]:
        print("0.0.0+llm-d-inference-sim")
        return
    if argv[:1] != ["serve"]:
        sys.exit(f"laptop cloud: only `vllm serve` is imitated, not `vllm {' '.join(argv)}`")
    arguments, dropped = translate(argv[1:], os.environ)
    seconds = float(os.environ.get("LLMD_GKE_MODEL_START_SECONDS") or 0)
    say(f"the model server is llm-d-inference-sim {shlex.join(arguments)}")
    if dropped:
        say(f"ignored arguments of vLLM that it does not support: {'; '.join(dropped)}")
    if os.environ.get("LWS_WORKER_INDEX", "0") != "0":
        say(f"worker {os.environ['LWS_WORKER_INDEX']} of a LeaderWorkerSet: stays idle, the leader serves")
        while True:
            signal.pause()
    if seconds:
        say(f"the port opens in {seconds:g} s (LLMD_GKE_MODEL_START_SECONDS)")
        time.sleep(seconds)
    # The reserved memory is never used; without this setting Go would reserve as much again before a collection.
    environment = {"GOGC": "25", **os.environ}
    os.execve(SIMULATOR, [SIMULATOR, *arguments], environment)  # noqa: S606 - no shell


if __name__ == "__main__":
    main(sys.argv[1:])
