"""Retries for Google APIs that were enabled a moment ago.

The provider waits until an API is listed as enabled, but not until all of Google's servers accept it, and does not
retry for that (hashicorp/terraform-provider-google ``google/transport/error_retry_predicates.go`` @e03b7622). So the
creation of the first resource of an API is retried.
"""

from __future__ import annotations

import re

import pulumi

from components.retries import retry

PAUSES = (15,) * 20
"""Five minutes in total: Google's error message says to wait "a few minutes" after an API was enabled."""

OFF = re.compile(
    r"""(?s)\A(?!.*(service\ usage\ api\ has|apis/api/serviceusage\.|"service":\s*"serviceusage\.))
    .*(service_disabled|accessnotconfigured|has\ not\ been\ used\ in\ project)""",
    re.VERBOSE,
)
"""Google's errors for a disabled API (https://cloud.google.com/apis/design/errors, reason ``SERVICE_DISABLED``), but
not those about Service Usage itself, which enables the others: the program does not enable it, and waiting would not
help."""

TRY_AGAIN = retry("not all of Google's servers accept its API yet", OFF, pauses=PAUSES)


def patient(name: str) -> pulumi.ResourceHookBinding:
    """Hooks for the resource ``name``, one of the first that use its API."""
    return pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-api-not-known-yet", TRY_AGAIN)])
