"""The memory of this machine."""

from __future__ import annotations

from pathlib import Path

import psutil


def available_mb(limits: Path = Path("/sys/fs/cgroup")) -> int:
    """Memory that can still be used, in MB, within the limit of the control group if there is one."""
    free = psutil.virtual_memory().available
    try:
        most, used = (limits / "memory.max").read_text().strip(), int((limits / "memory.current").read_text())
    except (OSError, ValueError):
        return free >> 20
    return (min(free, int(most) - used) if most.isdigit() else free) >> 20
