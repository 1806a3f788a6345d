"""Waits for what GKE or KServe does by itself: a creation that came too early is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence

import pulumi

PAUSES = (3, 6, 12)
"""Seconds before the first attempts after a failed one: what is waited for often appears shortly afterwards."""
LAST_PAUSE_SECONDS = 30
RETRIES = 90
"""45 minutes: the longest time that GatewayClasses took to appear. The engine allows 100 attempts."""


def pause(operation: str, errors: Sequence[str], signs: Collection[str]) -> int | None:
    """Seconds to wait before another attempt; ``None`` if the failed operation is not retried.

    ``errors`` are those of all attempts so far, the newest first. Only a creation is retried, and only while its error
    contains one of ``signs``, in lower case.
    """
    newest = errors[0].lower() if errors else ""
    if operation != "create" or len(errors) > RETRIES or not any(sign in newest for sign in signs):
        return None
    return PAUSES[len(errors) - 1] if len(errors) <= len(PAUSES) else LAST_PAUSE_SECONDS


def retry(
    why: str, signs: Collection[str], otherwise: Callable[[], None] = lambda: None
) -> Callable[[pulumi.ErrorHookArgs], Awaitable[bool]]:
    """A hook for failed attempts: logs ``why``, waits, and has the engine try again; ``otherwise`` is called before it
    gives up.
    """

    async def again(args: pulumi.ErrorHookArgs) -> bool:
        seconds = pause(args.failed_operation, args.errors, signs)
        if seconds is None:
            otherwise()
            return False
        pulumi.log.info(f"{args.name}: {why}, trying again in {seconds} s")
        await asyncio.sleep(seconds)
        return True

    return again
