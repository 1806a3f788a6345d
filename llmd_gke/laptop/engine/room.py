"""Is there room to build: disk and memory."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import psutil

from llmd_gke.laptop.errors import SetUpFailed

MB = 1 << 20
BUILD_MB = 4000
"""Free space a build needs in the cache folder: Go's build cache (3.2 GB, removed at the end) and the binaries."""
MODULES_MB = 1500
"""Free space for the Go modules where they are not there yet (measured 1.1 GB unpacked)."""
LEAST_MEMORY_MB = 1500
PER_COMPILER_MB = 900
"""Two compilers at once peak at 1.8 GB."""


@dataclass(frozen=True)
class Room:
    """Free space in the cache folder and in Go's module folder, usable memory (MB), and processors."""

    cache_mb: int
    modules_mb: int
    same_disk: bool
    memory_mb: int
    processors: int


def existing(folder: Path) -> Path:
    """The nearest folder above that exists; a disk is asked through it."""
    while not folder.exists():
        folder = folder.parent
    return folder


def memory_mb(limits: Path = Path("/sys/fs/cgroup")) -> int:
    """Memory that can still be used, in MB, within the limit of the control group if there is one."""
    free = psutil.virtual_memory().available
    try:
        most, used = (limits / "memory.max").read_text().strip(), int((limits / "memory.current").read_text())
    except (OSError, ValueError):
        return free // MB
    return min(free, int(most) - used) // MB if most.isdigit() else free // MB


def look(cache: Path, modules: Path) -> Room:
    """What this machine has now."""
    here, there = existing(cache), existing(modules)
    return Room(
        cache_mb=shutil.disk_usage(here).free // MB,
        modules_mb=shutil.disk_usage(there).free // MB,
        same_disk=here.stat().st_dev == there.stat().st_dev,
        memory_mb=memory_mb(),
        processors=len(os.sched_getaffinity(0)),
    )


def compilers(room: Room, *, cache: Path, modules: Path, modules_present: bool) -> int:
    """How many compilers may run at once. Raises ``SetUpFailed`` when the build would not fit at all."""
    for_modules = 0 if modules_present else MODULES_MB
    needs = [(cache, room.cache_mb, BUILD_MB + (for_modules if room.same_disk else 0))]
    if not room.same_disk and for_modules:
        needs.append((modules, room.modules_mb, for_modules))
    for folder, free, needed in needs:
        if free < needed:
            raise SetUpFailed(
                f"Not enough disk space to build the engine: {free} MB free at {folder}, {needed} MB needed "
                "(most of it only while building).\n"
                "Fix: free some, or point LLMD_GKE_CACHE (and GOMODCACHE) to a larger disk, then run the command again."
            )
    if room.memory_mb < LEAST_MEMORY_MB:
        raise SetUpFailed(
            f"Not enough memory to build the engine: {room.memory_mb} MB can be used, {LEAST_MEMORY_MB} MB needed.\n"
            "Fix: end other programs, or install Pulumi from https://www.pulumi.com/docs/install/ so that nothing has "
            "to be built, then run the command again."
        )
    return max(1, min(room.processors, room.memory_mb // PER_COMPILER_MB))
