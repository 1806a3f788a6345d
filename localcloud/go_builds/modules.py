"""Published Go modules as files: charts and CRDs are read from the module cache, never copied into the repository."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path

from llmd_common import child_process
from llmd_common.problems import SetUpFailed
from localcloud.go_builds import go_toolchain


def folder(module: str, version: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The unpacked module, downloaded if the cache lacks it; Go checks it against the checksum database.

    Raises ``SetUpFailed`` with module and version if that fails. ``version`` is exact, with its ``v``.
    """
    go = go_toolchain.find(environ)
    target = go.modules / f"{escaped(module)}@{escaped(version)}"
    # Go unpacks in place, and marks that by a file beside the download (cmd/go/internal/modfetch, ``Download``).
    partial = go.modules / "cache" / "download" / escaped(module) / "@v" / f"{escaped(version)}.partial"
    if target.is_dir() and not partial.exists():
        return target
    with tempfile.TemporaryDirectory(prefix="llmd-gke-") as empty:
        environment = {**environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOWORK": "off"}
        return download(go, f"{module}@{version}", Path(empty), environment)


STAMP = ".made-from"
"""File of a folder that was made of modules, with what it was made from."""


def is_made(target: Path, stamp: str) -> bool:
    """Whether a folder is there, made from what ``stamp`` says."""
    try:
        return (target / STAMP).read_text() == stamp
    except OSError:
        return False


@contextlib.contextmanager
def making(target: Path, stamp: str) -> Generator[Path]:
    """A path to make a folder at, which takes the place of ``target`` once it is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as beside:
        made = Path(beside) / target.name
        yield made
        (made / STAMP).write_text(stamp)
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)


def escaped(path: str) -> str:
    """The module's name in the cache: an upper-case letter is written ``!`` and small (golang.org/ref/mod)."""
    return "".join(f"!{letter.lower()}" if letter.isupper() else letter for letter in path)


def download(go: go_toolchain.Go, module: str, where: Path, environment: Mapping[str, str]) -> Path:
    """The unpacked module, from the module cache of ``environment``, downloaded there if missing.

    ``module``: its path, ``@`` and version; the version may be missing where the ``go.mod`` in the folder ``where``
    pins it. Its ``go.sum`` has to agree. Raises ``SetUpFailed`` with the cause and the fix.
    """
    command = [go.command, "mod", "download", "-json", module]
    answer = child_process.run(command, folder=where, environment=environment)
    if answer.returncode == 0:
        return Path(json.loads(answer.stdout)["Dir"])
    error = json.loads(answer.stdout).get("Error", "") if answer.stdout.startswith("{") else answer.stdout
    problem = f"The Go module {module} could not be downloaded: {(error or answer.stderr).strip()}\n"
    if "no space left on device" in problem:
        modules = environment.get("GOMODCACHE", go.modules)
        raise SetUpFailed(f"{problem}Fix: free some space on the disk of {modules}, then run the command again.")
    raise SetUpFailed(
        f"{problem}Fix: check with `go mod download {module}` that GOPROXY and GOSUMDB allow it and that the network "
        "is available; then run the command again."
    )
