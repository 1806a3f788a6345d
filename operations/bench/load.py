"""Starts the load generator in its own environment and follows it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, cast

from pydantic import TypeAdapter

from llmd_common.child_process import end
from llmd_gke.repository import CLONE
from operations.bench.result import Level
from operations.bench.workload import Workload
from operations.exits import Failed
from operations.outputs import Endpoint
from operations.printing import last_line

STOP = ((signal.SIGTERM, 5), (signal.SIGKILL, 5))

PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Environment variables that the load generator gets; credentials are not among them."""


@dataclass(frozen=True)
class Load:
    """What is sent: prompts, seconds of a level and its warm-up, concurrent requests of the first and last level."""

    workloads: Sequence[Workload]
    seconds: float = 30
    warmup: float = 5
    first: int = 1
    most: int = 256
    timeout: float = 600
    """Seconds that a request may take."""


def run(python: Path, endpoint: Endpoint, load: Load, say: Callable[[str], None]) -> tuple[list[Level], dict[str, str]]:
    """Runs the load; returns all levels, and by workload the reason why it ended. ``say`` gets the progress.

    Raises ``Failed`` with the end of the generator's output. Ctrl-C ends the generator and all of its processes.
    """
    with tempfile.TemporaryDirectory(prefix="llmd-gke-bench-") as folder:
        spec = Path(folder) / "spec.json"
        # A new seed: the server's cache must not contain the prompts of an earlier run.
        told = {"url": endpoint.url, "model": endpoint.served_model_name, "seed": uuid.uuid4().hex}
        caller = {"key": endpoint.key, "identity": endpoint.identity}
        spec.write_text(json.dumps({**asdict(load), **told, **caller}))
        errors = Path(folder) / "stderr"
        with errors.open("w") as log:
            process = subprocess.Popen(
                [str(python), "-m", f"{__package__}.generator", str(spec)],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
            try:
                levels, stopped = _follow(cast("IO[str]", process.stdout), say)
                status = process.wait()
            finally:
                end(process, STOP)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # its workers, which are in the same session, may outlive it
        if status or not levels:
            last = last_line(errors.read_text(errors="replace")) or "it printed nothing"
            raise Failed(
                f"The load generator exited with status {status}: {last[:400]}\n"
                "Fix: run llmd-gke smoke, which shows what the endpoint does not support"
            )
        return levels, stopped


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in PASSED_ON}
    return kept | {
        "GUIDELLM__MAX_WORKER_PROCESSES": str(min(4, os.cpu_count() or 1)),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(CLONE),
        "TRANSFORMERS_VERBOSITY": "error",
    }


def _follow(lines: IO[str], say: Callable[[str], None]) -> tuple[list[Level], dict[str, str]]:
    levels: list[Level] = []
    stopped: dict[str, str] = {}
    for line in lines:
        message = cast("Mapping[str, Mapping[str, object]]", json.loads(line))
        if starts := message.get("starts"):
            before = f", before: {levels[-1].output_tokens_per_second:,.0f} tokens/s" if levels else ""
            say(f"{starts['workload']} prompts, {starts['concurrency']} concurrent{before}")
        elif level := message.get("level"):
            levels.append(TypeAdapter(Level).validate_python(level))
        elif ended := message.get("stopped"):
            stopped[str(ended["workload"])] = str(ended["why"])
    return levels, stopped
