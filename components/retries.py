"""Waits for what Google, GKE or KServe does by itself: a creation that came too early is tried again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence

import pulumi

PAUSES = (3, 6, 12, *[30] * 87)
"""Seconds before each attempt after a failed one: what is waited for often appears shortly afterwards, but
GatewayClasses took up to 45 minutes. The engine allows 100 attempts."""


def pause(
    operation: str, errors: Sequence[str], too_early: re.Pattern[str], pauses: Sequence[int] = PAUSES
) -> int | None:
    """Seconds to wait before another attempt; ``None`` if the failed operation is not retried.

    ``errors`` are those of all attempts so far, the newest first. Only a creation is retried, and only while its error,
    in lower case, matches ``too_early``.
    """
    newest = errors[0].lower() if errors else ""
    if operation != "create" or len(errors) > len(pauses) or not too_early.search(newest):
        return None
    return pauses[len(errors) - 1]


def retry(
    why: str,
    too_early: re.Pattern[str],
    *,
    pauses: Sequence[int] = PAUSES,
    otherwise: Callable[[], None] = lambda: None,
) -> Callable[[pulumi.ErrorHookArgs], Awaitable[bool]]:
    """A hook for failed attempts: logs ``why``, waits, and has the engine try again; ``otherwise`` is called before it
    gives up.
    """

    async def again(args: pulumi.ErrorHookArgs) -> bool:
        seconds = pause(args.failed_operation, args.errors, too_early, pauses)
        if seconds is None:
            otherwise()
            return False
        pulumi.log.info(f"{args.name}: {why}, trying again in {seconds} s")
        await asyncio.sleep(seconds)
        return True

    return again
