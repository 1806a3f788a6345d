"""Where a built engine lies in the cache."""

from __future__ import annotations

from pathlib import Path

from llmd_gke.catalog.versions import engine_cli
from localcloud.go_builds.wrapper import Wrapper, machine
from localcloud.pulumi_cli.discover import HOST, Engine

WRAPPER = Wrapper(
    "engine",
    ("github.com/pulumi/pulumi/pkg/v3", f"v{engine_cli()}"),
    disk_mb=3200,
    modules_mb=1500,
    memory_mb=1500,
    tags="osusergo,grpcnotrace",
)
"""The Go module that pins the CLI and holds the language host."""

EXECUTOR = "pulumi-language-python-exec"
FAST_EXIT = "fast_exit.py"
COMPLETE = "complete"


def key() -> str:
    """Names one engine: version, machine and a hash of everything that goes into it."""
    return f"engine-v{engine_cli()}-{machine()}-{WRAPPER.digest('*')}"


def parts(cache: Path) -> dict[str, Path]:
    """Where the compiled parts are kept: the CLI is not built again because the language host has changed."""
    pins = WRAPPER.digest("go.mod", "go.sum")
    return {
        "pulumi": cache / "parts" / f"pulumi-v{engine_cli()}-{machine()}-{pins}",
        HOST: cache / "parts" / f"{HOST}-{machine()}-{WRAPPER.digest('go.mod', 'go.sum', '*.go')}",
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
