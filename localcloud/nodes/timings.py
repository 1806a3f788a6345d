"""Times of the kubelet that environment variables can set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from llmd_common.problems import BadInput


@dataclass(frozen=True)
class Timings:
    """Times in seconds.

    ``model_start_seconds``: how long a model server takes to open its port, so that the stages of a start can be seen.
    ``node_start_seconds``: from the decision for a node until it is Ready. ``scale_down_seconds``: how long a node must
    be idle before the autoscaler removes it (GKE: ten minutes). ``back_off_seconds``: before the second restart of a
    container that fails; doubles up to five minutes (Kubernetes: 10).
    """

    model_start_seconds: float = 1.0
    node_start_seconds: float = 1.0
    scale_down_seconds: float = 60.0
    back_off_seconds: float = 2.0

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> Timings:
        """From ``LLMD_GKE_MODEL_START_SECONDS`` and so on; raises ``BadInput`` for values that are not a number of
        seconds.
        """
        values: dict[str, float] = {}
        for name in cls.__dataclass_fields__:
            variable = f"LLMD_GKE_{name.upper()}"
            given = environment.get(variable)
            if not given:
                continue
            try:
                values[name] = float(given)
            except ValueError:
                values[name] = -1
            if not 0 <= values[name] < 86400:
                raise BadInput(
                    f"{variable}={given}: not a number of seconds from 0 to less than 86400.\n"
                    f"Fix: set one, such as 2.5, or unset {variable} for {getattr(cls, name):g} s."
                )
        return cls(**values)
