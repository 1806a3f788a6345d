"""Published Go modules as files: charts and CRDs are read from the module cache, never copied into the repository."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
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
    return target if target.is_dir() and not partial.exists() else _download(go, module, version, environ)


def escaped(path: str) -> str:
    """The module's name in the cache: an upper-case letter is written ``!`` and small (golang.org/ref/mod)."""
    return "".join(f"!{letter.lower()}" if letter.isupper() else letter for letter in path)


def _download(go: go_toolchain.Go, module: str, version: str, environ: Mapping[str, str]) -> Path:
    with tempfile.TemporaryDirectory(prefix="llmd-gke-") as empty:
        answer = child_process.run(
            [go.command, "mod", "download", "-json", f"{module}@{version}"],
            folder=Path(empty),
            environment={**environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOWORK": "off"},
        )
    if answer.returncode != 0:
        error = json.loads(answer.stdout).get("Error", "") if answer.stdout.startswith("{") else answer.stdout
        raise SetUpFailed(
            f"The Go module {module} {version} could not be downloaded: {(error or answer.stderr).strip()}\n"
            f"Fix: check with `go mod download {module}@{version}` that GOPROXY and GOSUMDB allow it and that the "
            "network is available; then run the command again."
        )
    return Path(json.loads(answer.stdout)["Dir"])
