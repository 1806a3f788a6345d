"""Compute Engine: security policies of Cloud Armor for regional load balancers.

Facts: the discovery document of ``compute.v1`` (``SecurityPolicy``), https://cloud.google.com/armor/docs/rate-limiting-overview
and https://cloud.google.com/armor/quotas.
"""

from __future__ import annotations

from collections.abc import Iterator

from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.rules.resource_type import CloudState, ResourceType, TargetResource
from localcloud.providers.protocol.values import JsonObject, number, objects, table, text, texts

POLICY = "gcp:compute/regionSecurityPolicy:RegionSecurityPolicy"
LAST = 2147483647
"""Priority of the rule that decides what no other rule matches; every policy has it."""
MOST_RANGES = 10
"""Ranges of one rule."""
MOST_REQUESTS = 1_000_000
"""Upper limit of a throttle's ``count``."""
INTERVALS = frozenset({10, 30, 60, 120, 180, 240, 270, 300, 600, 900, 1200, 1800, 2700, 3600})
"""Allowed ``intervalSec`` of a throttle."""
ACTIONS = frozenset({"allow", "deny(403)", "deny(404)", "deny(502)", "throttle", "rate_based_ban"})
EXCEED_ACTIONS = frozenset({"deny(403)", "deny(404)", "deny(429)", "deny(502)"})


def _faults(rules: list[JsonObject]) -> Iterator[str]:
    """What Compute Engine rejects in a policy's rules, as the end of its message."""
    priorities = [number(rule, "priority") for rule in rules]
    if LAST not in priorities:
        yield f"'resource.rules': must contain a default rule with priority {LAST}"
    if len(set(priorities)) < len(priorities):
        yield "'resource.rules': cannot have rules with the same priorities"
    for index, rule in enumerate(rules):
        path, action = f"resource.rules[{index}]", text(rule, "action")
        if action not in ACTIONS:
            yield f"'{path}.action': '{action}'"
        ranges = texts(table(rule, "match", "config"), "srcIpRanges")
        if len(ranges) > MOST_RANGES:
            yield f"'{path}.match.config.srcIpRanges': has {len(ranges)} elements, at most {MOST_RANGES} are allowed"
        limited, options = action in ("throttle", "rate_based_ban"), table(rule, "rateLimitOptions")
        if bool(options) != limited:
            yield f"'{path}.rateLimitOptions': must be set for throttle and rate_based_ban, and for no other action"
        if limited and options:
            yield from _throttle_faults(f"{path}.rateLimitOptions", options)


def _throttle_faults(path: str, options: JsonObject) -> Iterator[str]:
    threshold = table(options, "rateLimitThreshold")
    count, seconds = number(threshold, "count") or 0, number(threshold, "intervalSec")
    if not 1 <= count <= MOST_REQUESTS:
        yield f"'{path}.rateLimitThreshold.count': '{count}' is not between 1 and {MOST_REQUESTS}"
    if seconds not in INTERVALS:
        yield f"'{path}.rateLimitThreshold.intervalSec': '{seconds}'"
    if text(options, "conformAction") != "allow":
        yield f"'{path}.conformAction': must be allow"
    if text(options, "exceedAction") not in EXCEED_ACTIONS:
        yield f"'{path}.exceedAction': '{text(options, 'exceedAction')}'"


def _validate(cloud_state: CloudState, target: TargetResource) -> None:
    del cloud_state
    rules = objects(target.inputs, "rules")
    for fault in _faults(rules) if rules else ():
        raise ApiError(400, f"Invalid value for field {fault}.", "invalid")


KINDS: dict[str, ResourceType] = {
    POLICY: ResourceType(
        "securityPolicies", create=_validate, update=lambda cloud_state, target, _: _validate(cloud_state, target)
    ),
}
