"""Checks the environment variables that configure a laptop cloud, before anything is built or started.

Each process reads its variables when it starts; an invalid value would then only make it exit.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from llmd_common.problems import BadInput
from localcloud.monitoring import options
from localcloud.nodes.timings import Timings

SIMULATOR = "LLMD_GKE_SIMULATOR_ARGS"


def check(environment: Mapping[str, str] = os.environ) -> None:
    """Raises ``BadInput`` for the first invalid value."""
    Timings.read(environment)
    options.faster(environment)
    try:
        shlex.split(environment.get(SIMULATOR, ""))
    except ValueError as error:
        raise BadInput(
            f"{SIMULATOR}={environment[SIMULATOR]}: not valid shell arguments ({error}).\n"
            f"Fix: close the quotation, or unset {SIMULATOR}."
        ) from None
