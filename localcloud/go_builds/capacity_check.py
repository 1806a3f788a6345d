"""Checks that there is enough disk space and memory to build."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import psutil

from llmd_common.problems import SetUpFailed
from localcloud.go_builds.go_toolchain import Purpose

MB = 1 << 20
PER_COMPILER_MB = 900
"""Two compilers at once peak at 1.8 GB (measured with the Pulumi CLI)."""


@dataclass(frozen=True)
class MachineCapacity:
    """Free space in the cache folder, usable memory (MB), and processors."""

    cache_mb: int
    memory_mb: int
    processors: int


def existing(folder: Path) -> Path:
    """``folder`` or the nearest existing one above it, by which the free disk space is determined."""
    while not folder.exists():
        folder = folder.parent
    return folder


def size_mb(folder: Path) -> int:
    """Size of the files below a folder in MB; 0 if there is no such folder."""
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            total += os.lstat(f"{parent}/{name}").st_blocks * 512
    return total // MB


def memory_mb(limits: Path = Path("/sys/fs/cgroup")) -> int:
    """Memory that can still be used, in MB, within the limit of the control group if there is one."""
    free = psutil.virtual_memory().available
    try:
        most, used = (limits / "memory.max").read_text().strip(), int((limits / "memory.current").read_text())
    except (OSError, ValueError):
        return free // MB
    return min(free, int(most) - used) // MB if most.isdigit() else free // MB


def look(cache: Path) -> MachineCapacity:
    """The capacity of this machine now."""
    return MachineCapacity(
        cache_mb=shutil.disk_usage(existing(cache)).free // MB,
        memory_mb=memory_mb(),
        processors=len(os.sched_getaffinity(0)),
    )


def check_disk(capacity: MachineCapacity, needed_mb: int, cache: Path, purpose: Purpose) -> None:
    """Raises ``SetUpFailed`` unless ``needed_mb`` are free in the cache folder."""
    if capacity.cache_mb < needed_mb:
        raise SetUpFailed(
            f"Not enough disk space to build {purpose.what}: {capacity.cache_mb} MB are free at {cache}, {needed_mb} "
            "MB are needed (most of it only during the build).\n"
            "Fix: free some space, or set LLMD_GKE_CACHE to a folder on a larger disk, then run the command again."
        )


def compilers(capacity: MachineCapacity, least_mb: int, purpose: Purpose) -> int:
    """Number of compilers that may run at once.

    ``least_mb``: memory of a build with one compiler; each further one needs ``PER_COMPILER_MB``. Raises
    ``SetUpFailed`` if memory does not suffice for one.
    """
    if capacity.memory_mb < least_mb:
        raise SetUpFailed(
            f"Not enough memory to build {purpose.what}: {capacity.memory_mb} MB are available, "
            f"{least_mb} MB are needed.\n"
            f"Fix: {purpose.fix('close other programs')}, then run the command again; it continues where it stopped."
        )
    return max(1, min(capacity.processors, 1 + (capacity.memory_mb - least_mb) // PER_COMPILER_MB))
