"""Where a built engine lies in the cache, and the lock that keeps two builders apart."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO

from llmd_gke.catalog.versions import engine_cli
from llmd_gke.laptop.engine.found import HOST, Engine

MODULE = Path(__file__).resolve().parents[1] / "gomod" / "engine"
"""The Go module that pins the CLI and holds the language host."""

EXECUTOR = "pulumi-language-python-exec"
FAST_EXIT = "fast_exit.py"
COMPLETE = "complete"


def machine() -> str:
    """Operating system and processor, as in ``linux-x86_64``."""
    return f"{platform.system().lower()}-{platform.machine()}"


def digest(*patterns: str, module: Path = MODULE) -> str:
    """A hash of the module's files that match."""
    content = hashlib.sha256()
    for file in sorted({path for pattern in patterns for path in module.glob(pattern) if path.is_file()}):
        content.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return content.hexdigest()[:12]


def key() -> str:
    """Names one engine: version, machine and a hash of everything that goes into it."""
    return f"engine-v{engine_cli()}-{machine()}-{digest('*')}"


def parts(cache: Path) -> dict[str, Path]:
    """Where the compiled parts are kept: the CLI is not built again because the language host has changed."""
    pins = digest("go.mod", "go.sum")
    return {
        "pulumi": cache / "parts" / f"pulumi-v{engine_cli()}-{machine()}-{pins}",
        HOST: cache / "parts" / f"{HOST}-{machine()}-{digest('go.mod', 'go.sum', '*.go')}",
    }


def built(cache: Path) -> Path:
    """The folder of the built engine, whether it is there or not."""
    return cache / key()


def present(cache: Path) -> Engine | None:
    """The engine that an earlier run built; ``None`` when it is not there or not whole."""
    folder = built(cache)
    files = [folder / name for name in ("pulumi", HOST, EXECUTOR, FAST_EXIT, COMPLETE)]
    if not all(file.exists() for file in files):
        return None
    return Engine((folder / "pulumi").resolve(), f"v{engine_cli()}", "built from the Go module")


@contextlib.contextmanager
def builder(cache: Path, waiting: Callable[[str], None]) -> Generator[IO[str]]:
    """Held by the one that builds. Another waits, calling ``waiting`` with the builder's process id once a second."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f"{key()}.lock").open("a+") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                file.seek(0)
                waiting(file.read().strip() or "unknown")
                time.sleep(1)
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield file
