"""What the user sets about a laptop cloud by environment variables, looked at before anything is built or started.

Each process reads its own ones when it starts; by then a value that cannot be used would only end it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from llmd_gke.laptop.errors import BadInput
from llmd_gke.laptop.kubelet.knobs import Knobs

SIMULATOR = "LLMD_GKE_SIMULATOR_ARGS"


def check(environment: Mapping[str, str] = os.environ) -> None:
    """Raises ``BadInput`` for the first value that cannot be used."""
    Knobs.read(environment)
    try:
        shlex.split(environment.get(SIMULATOR, ""))
    except ValueError as error:
        raise BadInput(
            f"{SIMULATOR}={environment[SIMULATOR]}: no arguments as a shell reads them ({error}).\n"
            f"Fix: close the quotation, or unset {SIMULATOR}."
        ) from None
