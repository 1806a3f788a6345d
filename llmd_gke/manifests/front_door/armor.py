"""What Cloud Armor does at the load balancer before a request reaches the front door."""

from __future__ import annotations

from llmd_gke.json_types import Json, JsonObject
from llmd_gke.rules.cloud_armor import INTERVAL_SECONDS, LAST_PRIORITY, RANGES_PER_RULE
from llmd_gke.settings import AccessSettings

FIRST_PRIORITY = 1000
"""Priority of the first rule; smaller numbers are free for what is added by hand during an attack."""

DENIED = "deny(403)"
THROTTLED = "deny(429)"


def rules(access: AccessSettings) -> list[Json]:
    """The rules of the security policy, in the order in which Cloud Armor tries them.

    The first rule that matches decides, so a rule with ranges both admits and throttles. The last rule has no ranges:
    it denies if ranges are given.
    """
    ranges = access.ranges
    groups = [[*ranges[first : first + RANGES_PER_RULE]] for first in range(0, len(ranges), RANGES_PER_RULE)]
    count = access.requests_per_minute_per_address
    if count is not None and not groups:
        groups = [["*"]]
    made: list[Json] = [_rule(FIRST_PRIORITY + index, group, count) for index, group in enumerate(groups)]
    last = _rule(LAST_PRIORITY, ["*"], None)
    return [*made, {**last, "action": DENIED} if ranges else last]


def _rule(priority: int, ranges: list[str], requests_per_minute: int | None) -> JsonObject:
    rule: JsonObject = {
        "priority": priority,
        "action": "allow",
        "match": {"versionedExpr": "SRC_IPS_V1", "config": {"srcIpRanges": [*ranges]}},
    }
    if requests_per_minute is not None:
        rule["action"] = "throttle"
        rule["rateLimitOptions"] = {
            "conformAction": "allow",
            "exceedAction": THROTTLED,
            "enforceOnKey": "IP",
            "rateLimitThreshold": {"count": requests_per_minute, "intervalSec": INTERVAL_SECONDS},
        }
    return rule
