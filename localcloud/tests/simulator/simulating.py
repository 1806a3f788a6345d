"""The real vLLM simulator (llm-d/llm-d-inference-sim), where it is built."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tenacity

from llmd_common.problems import SetUpFailed
from localcloud import binaries

NAMES = ("qwen", "publishers/models/models/qwen")


def program() -> Path:
    """The binary that the laptop cloud runs, too; skips the test where it is not built."""
    try:
        return binaries.path("vllm-simulator")
    except SetUpFailed as problem:
        pytest.skip(str(problem))


@contextmanager
def simulating(*arguments: str) -> Generator[str]:
    """Its URL on a free port, once it answers; it ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(program()), "--port", str(port), "--model", "qwen", "--served-model-name", *NAMES, *arguments]
    process = subprocess.Popen(
        [*command, "--force-dummy-tokenizer"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"POD_IP": "127.0.0.1", "HOME": os.environ["HOME"]},
    )
    try:
        for attempt in tenacity.Retrying(
            stop=tenacity.stop_after_delay(30), wait=tenacity.wait_fixed(0.05), reraise=True
        ):
            with attempt:
                assert process.poll() is None, "the simulator ended"
                socket.create_connection(("127.0.0.1", port), 1).close()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()  # told to end, it first finishes every answer, also those that nobody reads any more
        process.wait()
