"""Retries for Google APIs that were enabled a moment ago."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import pulumi

PAUSE_SECONDS = 15
RETRIES = 20
"""Five minutes in total: Google's error message says to wait "a few minutes" after an API was enabled."""

OFF = ("service_disabled", "accessnotconfigured", "has not been used in project")
"""Google's errors for a disabled API (https://cloud.google.com/apis/design/errors, reason ``SERVICE_DISABLED``)."""

SERVICE_USAGE = re.compile(r'service usage api has|apis/api/serviceusage\.|"service":\s*"serviceusage\.')
"""Errors about Service Usage itself, the API that enables the others: this program does not enable it."""


def pause(operation: str, errors: Sequence[str]) -> int | None:
    """Seconds to wait before another attempt; ``None`` if the failed operation is not retried.

    ``errors`` are those of all attempts so far, the newest first. The provider waits until an API is listed as
    enabled, but not until all of Google's servers accept it, and does not retry for that
    (hashicorp/terraform-provider-google ``google/transport/error_retry_predicates.go`` @e03b7622). So the creation of
    the first resource of an API is retried, except if Service Usage itself is disabled, where waiting would not help.
    """
    newest = errors[0].lower() if errors else ""
    if operation != "create" or len(errors) > RETRIES or not any(sign in newest for sign in OFF):
        return None
    if SERVICE_USAGE.search(newest):
        return None
    return PAUSE_SECONDS


async def try_again(args: pulumi.ErrorHookArgs) -> bool:
    """Called by the engine after a failed attempt: waits, and returns whether to retry."""
    seconds = pause(args.failed_operation, args.errors)
    if seconds is None:
        return False
    pulumi.log.info(f"not all of Google's servers accept the API of {args.name} yet, trying again in {seconds} s")
    await asyncio.sleep(seconds)
    return True


def patient(name: str) -> pulumi.ResourceHookBinding:
    """Hooks for the resource ``name``, one of the first that use its API."""
    return pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-api-not-known-yet", try_again)])
