"""Checks that there is enough memory for a laptop cloud."""

from __future__ import annotations

from llmd_common.problems import SetUpFailed
from localcloud.common.memory import available_mb

MEMORY_MB = 3500
"""Memory of a laptop cloud with one model: 2.5 GB for its processes and 0.9 GB for `pulumi up`."""


def check() -> None:
    """Raises ``SetUpFailed`` if there is too little memory."""
    usable = available_mb()
    if usable < MEMORY_MB:
        raise SetUpFailed(
            f"Not enough memory for the laptop cloud: {usable} MB are available, {MEMORY_MB} MB are needed.\n"
            "Fix: close other programs (another laptop cloud? `make down CLOUD=laptop` there), then run it again."
        )
