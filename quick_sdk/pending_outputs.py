"""Waits for a program's pending outputs all at once.

At its end, a program waits until all outputs have a value. The SDK waits for the first of them, puts the others back,
and begins anew (``wait_for_rpcs`` in ``pulumi/runtime/stack.py``, SDK 3.259). Each time, asyncio adds a callback to
every output that is still pending and removes it again, so that the time grows with the square of their number: with
50 models it was half of the program's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import ModuleType

from pulumi.runtime import stack


async def wait(
    tasks: Iterable[asyncio.Task[object]], *, return_when: str
) -> tuple[set[asyncio.Task[object]], set[asyncio.Task[object]]]:
    """In place of ``asyncio.wait``: returns once all tasks are done, or one has failed, which the SDK then raises.

    Outputs that come into being meanwhile are waited for in the SDK's next round.
    """
    del return_when
    return await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)


def wait_at_once() -> None:
    """Lets the SDK wait by :func:`wait`, unless the SDK no longer imports asyncio."""
    if vars(stack).get("asyncio") is not asyncio:
        return
    ours = ModuleType(asyncio.__name__)
    vars(ours).update(vars(asyncio), wait=wait)
    setattr(stack, "asyncio", ours)  # noqa: B010 - checkers know the module's imports
