"""Whether a model of a stack limits the requests in flight, and the endpoint picker that is built for it."""

from __future__ import annotations

from localcloud.cluster import stack_file
from localcloud.cluster.stack_file import table, tables
from localcloud.common.workdir import Workdir
from localcloud.workflow.local_settings import FRONT_DOOR

PROGRAMS = ("counting-picker",)
"""What is built."""


def asked(workdir: Workdir, stack: str) -> bool:
    """Whether a model has ``scheduler.saturation.maxConcurrency``, or ``maxNumSeqs``, which takes its place where
    callers have different priorities. Raises ``BadInput`` for a stack file that cannot be read.
    """
    callers = tables(table(stack_file.read(workdir, stack).get(FRONT_DOOR)).get("callers"))
    differ = len({str(caller.get("priority") or 0) for caller in callers}) > 1
    return any(
        table(table(model.get("scheduler")).get("saturation")).get("maxConcurrency") is not None
        or (differ and model.get("maxNumSeqs") is not None)
        for model in stack_file.models(workdir, stack)
    )
