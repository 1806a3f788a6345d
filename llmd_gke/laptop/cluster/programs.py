"""The programs that a cluster needs, from :mod:`llmd_gke.laptop.programs`."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from llmd_gke.laptop.cluster.processes import PROGRAMS
from llmd_gke.laptop.paths import cache_folder


def control_plane(console: Console, only: Sequence[str] | None = None) -> dict[str, Path]:
    """Name and path of each program of the control plane, or of those in ``only``; builds what is missing."""
    wanted = [name for name in PROGRAMS if only is None or name in only]
    if importlib.util.find_spec("llmd_gke.laptop.programs.ensure") is None:
        built = cache_folder() / "programs"
        return {name: file for name in wanted for file in built.glob(f"*/{name}")}
    raise NotImplementedError(console)
