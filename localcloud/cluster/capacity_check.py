"""Checks that there is enough memory for a laptop cloud."""

from __future__ import annotations

from llmd_common.problems import SetUpFailed
from localcloud.common.memory import available_mb

MEMORY_MB = 3500
"""Memory of a laptop cloud with one model: 2.5 GB for its processes and 0.9 GB for `pulumi up`."""


def check(needed: int = MEMORY_MB, what: str = "the laptop cloud") -> None:
    """Raises ``SetUpFailed`` if there is less memory, in MB, than ``what`` needs."""
    usable = available_mb()
    if usable < needed:
        raise SetUpFailed(
            f"Not enough memory for {what}: {usable} MB are available, {needed} MB are needed.\n"
            "Fix: close other programs (another laptop cloud? `make down CLOUD=laptop` there), then run it again."
        )
