"""The standard library, compiled once for the tests of a run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from localcloud.go_builds.build import NO_DEBUGGER
from localcloud.tests.go_builds.modules import needs_go
from tests.shared_folder import made_once


@pytest.fixture(scope="session")
def standard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an earlier run compiled of Go's standard library, so that each test does not do it again."""
    needs_go()

    def compile_it(folder: Path) -> None:
        settings = {"GOCACHE": str(folder), "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
        flags = ["-trimpath", f"-gcflags=all={NO_DEBUGGER}"]
        subprocess.run(["go", "build", *flags, "os"], env={**os.environ, **settings}, check=True)

    return made_once(tmp_path_factory, "standard", compile_it)
