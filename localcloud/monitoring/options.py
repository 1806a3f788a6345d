"""Whether a laptop cloud collects metrics, according to the environment."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

from llmd_common.problems import BadInput

VARIABLE = "LLMD_GKE_PROMETHEUS"
PROGRAMS = ("prometheus", "kube-state-metrics")
"""The programs that are then built and run."""


def faster(environment: Mapping[str, str] = os.environ) -> float:
    """0 if nothing is collected, 1 for the stack's own intervals; a larger number divides each of them.

    Raises ``BadInput`` for another value.
    """
    given = environment.get(VARIABLE)
    if not given:
        return 0.0
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if number == 0 or (1 <= number <= 1000):
        return number
    raise BadInput(
        f"{VARIABLE}={given}: allowed: 0, or a number from 1 to 1000.\n"
        f"Fix: set 1 for the intervals of the stack, more to divide them, or unset {VARIABLE} for no Prometheus."
    )


def programs(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The programs to build and start; none if nothing is collected."""
    return PROGRAMS if faster(environment) else ()
