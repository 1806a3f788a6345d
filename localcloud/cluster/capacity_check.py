"""Checks that there is enough memory and disk space for a laptop cloud."""

from __future__ import annotations

import shutil
from pathlib import Path

from llmd_common.problems import SetUpFailed
from localcloud.go_builds.capacity_check import MB, existing, memory_mb

MEMORY_MB = 3500
"""Memory of a laptop cloud with one model: 2.5 GB for its processes and 0.9 GB for `pulumi up`."""

DISK_MB = 500
"""Disk space for etcd's data, charts and logs."""


def check(home: Path, memory: int | None = None, disk: int | None = None) -> None:
    """Raises ``SetUpFailed`` if there is too little. The default figures are those of this machine now."""
    usable = memory_mb() if memory is None else memory
    if usable < MEMORY_MB:
        raise SetUpFailed(
            f"Not enough memory for the laptop cloud: {usable} MB are available, {MEMORY_MB} MB are needed.\n"
            "Fix: close other programs (another laptop cloud? `make down CLOUD=laptop` there), then run it again."
        )
    there = existing(home)
    free = shutil.disk_usage(there).free // MB if disk is None else disk
    if free < DISK_MB:
        raise SetUpFailed(
            f"Not enough disk space for the laptop cloud: {free} MB are free at {there}, {DISK_MB} MB are needed.\n"
            "Fix: free some space, or set LLMD_GKE_HOME to a folder on a larger disk, then run the command again."
        )
