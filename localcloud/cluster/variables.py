"""Checks the environment variables that configure a laptop cloud, before anything is built or started.

Each process reads its variables when it starts; an invalid value would then only make it exit.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from llmd_common.problems import BadInput
from localcloud.cluster.processes import ETCD_QUOTA
from localcloud.monitoring import options
from localcloud.nodes.timings import Timings

SIMULATOR = "LLMD_GKE_SIMULATOR_ARGS"
QUOTA = "LLMD_GKE_ETCD_QUOTA_BYTES"
"""Environment variable with etcd's space quota in bytes."""


def check(environment: Mapping[str, str] = os.environ) -> None:
    """Raises ``BadInput`` for the first invalid value."""
    Timings.read(environment)
    etcd_quota(environment)
    options.faster(environment)
    try:
        shlex.split(environment.get(SIMULATOR, ""))
    except ValueError as error:
        raise BadInput(
            f"{SIMULATOR}={environment[SIMULATOR]}: not valid shell arguments ({error}).\n"
            f"Fix: close the quotation, or unset {SIMULATOR}."
        ) from None


def etcd_quota(environment: Mapping[str, str] = os.environ) -> int:
    """The space quota of etcd in bytes: the value of the variable, or etcd's default. Raises ``BadInput`` for a value
    that is not a number.
    """
    given = environment.get(QUOTA)
    if not given:
        return ETCD_QUOTA
    # For etcd, 0 also means its default: https://etcd.io/docs/v3.6/op-guide/configuration/. It takes 63 bits.
    if not (given.isascii() and given.isdigit() and len(given) < 19 and int(given) > 0):
        raise BadInput(
            f"{QUOTA}={given}: not a number of bytes above 0.\n"
            f"Fix: set one, such as {4 * ETCD_QUOTA}, or unset {QUOTA} for {ETCD_QUOTA}."
        )
    return int(given)
