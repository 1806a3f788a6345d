"""The path of a built engine in the cache."""

from __future__ import annotations

from pathlib import Path

from localcloud.go_builds.wrapper import Wrapper, machine
from localcloud.product import engine_cli
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
    """The name of one engine: version, machine and a hash of all of its inputs."""
    return f"engine-v{engine_cli()}-{machine()}-{WRAPPER.digest('*')}"


def parts(cache: Path) -> dict[str, Path]:
    """Paths of the compiled parts, by name, so that the CLI is not built again if only the language host changes."""
    pins = WRAPPER.digest("go.mod", "go.sum")
    return {
        "pulumi": cache / "parts" / f"pulumi-v{engine_cli()}-{machine()}-{pins}",
        HOST: cache / "parts" / f"{HOST}-{machine()}-{WRAPPER.digest('go.mod', 'go.sum', '*.go')}",
    }


def built(cache: Path) -> Path:
    """The folder of the built engine, whether it exists or not."""
    return cache / key()


def present(cache: Path) -> Engine | None:
    """The engine that an earlier run built; ``None`` if it is missing or incomplete."""
    folder = built(cache)
    files = [folder / name for name in ("pulumi", HOST, EXECUTOR, FAST_EXIT, COMPLETE)]
    if not all(file.exists() for file in files):
        return None
    return Engine((folder / "pulumi").resolve(), f"v{engine_cli()}", "built from the Go module")
