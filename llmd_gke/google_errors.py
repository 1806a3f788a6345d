"""What Google and its provider say when something fails, with the cause and what to do, as data.

The texts are those of hashicorp/terraform-provider-google 7.39 and of Google's APIs
(https://cloud.google.com/apis/design/errors). ``docs/troubleshooting.md`` has the same for readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class GoogleError:
    """``sign``: a pattern of the message. ``fix`` may hold ``{stack}``."""

    sign: str
    cause: str
    fix: str


ERRORS: tuple[GoogleError, ...] = (
    GoogleError(
        r"GCE_QUOTA_EXCEEDED|Quota '[^']*' exceeded|quotaExceeded",
        "the project's quota is used up, or was never granted",
        "ask for more (IAM & Admin > Quotas); `llmd-gke doctor --stack {stack}` says which quota and how much",
    ),
    GoogleError(
        r"GCE_STOCKOUT|ZONE_RESOURCE_POOL_EXHAUSTED|does not have enough resources",
        "no such host is free in the zone right now; GKE goes on trying",
        "wait, or set another zone or capacity (docs/pools.md); `llmd-gke doctor --stack {stack} --probe` finds one",
    ),
    GoogleError(
        r"NodePool \S+ was created in the error state",
        "GKE could not make the pool's nodes and goes on trying; the provider does not say why: no host is free in the "
        "zone, or the quota is used up",
        "`llmd-gke doctor --stack {stack} --probe` says which of them it is",
    ),
    GoogleError(
        r"googleapi: Error 401|invalid authentication credentials|oauth2: .*(invalid_grant|expired)",
        "the sign-in has expired",
        "gcloud auth login --update-adc",
    ),
    GoogleError(
        r"SERVICE_DISABLED|accessNotConfigured|has not been used in project",
        "the API is off, or was enabled a moment ago and Google's servers do not all know it",
        "wait some minutes",
    ),
    GoogleError(
        r"googleapi: Error 409: .*(already exists|Already exists)|resource - \S+ - already exists",
        "there is one of that name which the stack does not have: made by hand, by another stack, or by a request "
        "whose answer was lost",
        "`pulumi import` it, delete it, or choose another name",
    ),
    GoogleError(
        r"is already being used by|resourceInUseByAnotherResource",
        "something else still uses it; what GKE's controllers made goes some minutes after their cluster",
        "`llmd-gke destroy --stack {stack}` waits for it; or wait, and destroy again",
    ),
    GoogleError(
        r"googleapi: Error (429|50[0-4])|rateLimitExceeded|backendError",
        "Google refused for the moment, longer than the provider goes on trying",
        "wait some minutes",
    ),
    GoogleError(
        r"googleapis\.com[^\n]*(EOF|connection reset|broken pipe|connection refused|i/o timeout|no such host)",
        "the connection to Google was lost; what was asked for may have been made",
        "try again; if it then says that something already exists, `pulumi import` or delete that",
    ),
    GoogleError(
        r"Error waiting (for|to) ",
        "Google accepted the request, and failed later for the reason in the message",
        "mend what the message names",
    ),
)
"""The first that fits counts."""


def explained(messages: Iterable[str], stack: str) -> Iterator[tuple[str, str]]:
    """Cause and fix of every message that is known, each once."""
    seen: set[GoogleError] = set()
    for message in messages:
        known = next((one for one in ERRORS if re.search(one.sign, message)), None)
        if known is not None and known not in seen:
            seen.add(known)
            yield known.cause, known.fix.format(stack=stack)
