"""The rules of Cloud Armor, and who the load balancer admits by them."""

from __future__ import annotations

import ipaddress
from typing import Any, cast

import pytest

from llmd_gke.manifests.front_door import armor
from llmd_gke.rules import cloud_armor
from llmd_gke.rules.inputs import Input
from llmd_gke.settings import AccessSettings


def access(**given: Any) -> AccessSettings:
    return AccessSettings(**given)


def decided(settings: AccessSettings, address: str) -> str:
    """The action of the first rule that matches, as Cloud Armor evaluates them: by priority."""
    rules = cast("list[dict[str, Any]]", armor.rules(settings))
    for rule in sorted(rules, key=lambda one: one["priority"]):
        for one in rule["match"]["config"]["srcIpRanges"]:
            if one == "*" or ipaddress.ip_address(address) in ipaddress.ip_network(one):
                return rule["action"]
    return "no rule"


@pytest.mark.parametrize(
    ("settings", "inside", "outside"),
    [
        (access(ranges=["192.0.2.0/24"]), "allow", "deny(403)"),
        (access(ranges=["192.0.2.0/24"], requests_per_minute_per_address=60), "throttle", "deny(403)"),
        (access(requests_per_minute_per_address=60), "throttle", "throttle"),
    ],
)
def test_ranges_admit_and_throttle_and_policies_take_only_what_denies_everyone_else_for_a_guard(
    settings: AccessSettings, inside: str, outside: str
) -> None:
    assert decided(settings, "192.0.2.9") == inside
    assert decided(settings, "203.0.113.9") == outside
    policy = Input({"rules": cast("Any", armor.rules(settings))})
    assert list(cloud_armor.policy_rules(policy)) == []
    assert cloud_armor.restricts(policy) is (outside == "deny(403)")


def test_a_rule_has_ten_ranges_and_no_range_is_lost() -> None:
    ranges = [f"192.0.2.{n}/32" for n in range(23)]
    *rules, last = cast("list[dict[str, Any]]", armor.rules(access(ranges=ranges)))
    assert [len(rule["match"]["config"]["srcIpRanges"]) for rule in rules] == [10, 10, 3]
    assert [one for rule in rules for one in rule["match"]["config"]["srcIpRanges"]] == ranges
    assert [rule["priority"] for rule in rules] == [1000, 1001, 1002]
    assert (last["priority"], last["action"]) == (cloud_armor.LAST_PRIORITY, "deny(403)")


def test_a_throttle_counts_each_address_for_itself_and_answers_429() -> None:
    (rule, last) = cast("list[dict[str, Any]]", armor.rules(access(requests_per_minute_per_address=60)))
    options = rule["rateLimitOptions"]
    assert options["rateLimitThreshold"] == {"count": 60, "intervalSec": 60}
    assert (options["conformAction"], options["exceedAction"], options["enforceOnKey"]) == ("allow", "deny(429)", "IP")
    assert last["action"] == "allow"
