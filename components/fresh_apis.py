"""Google APIs that were switched on a moment ago."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import pulumi

PAUSE = 15
RETRIES = 20
"""Five minutes: Google asks to wait "a few minutes" after an API was enabled."""

OFF = ("service_disabled", "accessnotconfigured", "has not been used in project")
"""How Google says that an API is off (https://cloud.google.com/apis/design/errors, reason ``SERVICE_DISABLED``)."""

SERVICE_USAGE = re.compile(r'service usage api has|apis/api/serviceusage\.|"service":\s*"serviceusage\.')
"""Which API is off, in such an error: the one that switches on the others, so this program has not just done it."""


def pause(operation: str, errors: Sequence[str]) -> int | None:
    """Seconds to wait before another attempt; ``None`` when a failed operation deserves none.

    ``errors`` are those of all attempts so far, the newest first. The provider waits until an API is listed as enabled,
    not until every server of Google's knows it, and has no retry of its own for that
    (hashicorp/terraform-provider-google ``google/transport/error_retry_predicates.go`` @e03b7622). So the first
    resource of an API is tried again, but not while Service Usage itself is off: waiting would not help.
    """
    newest = errors[0].lower() if errors else ""
    if operation != "create" or len(errors) > RETRIES or not any(sign in newest for sign in OFF):
        return None
    if SERVICE_USAGE.search(newest):
        return None
    return PAUSE


async def try_again(args: pulumi.ErrorHookArgs) -> bool:
    """The engine's question after a failed attempt: waits, and says whether to go on."""
    seconds = pause(args.failed_operation, args.errors)
    if seconds is None:
        return False
    pulumi.log.info(f"not all of Google's servers accept the API of {args.name} yet, trying again in {seconds} s")
    await asyncio.sleep(seconds)
    return True


def patient(name: str) -> pulumi.ResourceHookBinding:
    """Hooks for the resource ``name``, which is among the first of its API."""
    return pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-api-not-known-yet", try_again)])
