"""Security policies of Cloud Armor: what Compute Engine rejects in their rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from localcloud.tests.published_provider.changes.names import Props
from localcloud.tests.published_provider.changes.network import DENY_OTHERS, THROTTLE

from localcloud.providers.google.security_policies import POLICY

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Standin


def policy(*rules: Props) -> Props:
    return {"name": "armor", "region": "us-east5", "type": "CLOUD_ARMOR", "rules": list(rules)}


def throttle(**options: object) -> Props:
    return {**THROTTLE, "rateLimitOptions": {**THROTTLE["rateLimitOptions"], **options}}


def test_a_policy_is_created_and_changed_in_place(google: Standin, network: object) -> None:
    made = google.create(POLICY, policy(THROTTLE, DENY_OTHERS))
    assert made.id == "projects/rehearsal/regions/us-east5/securityPolicies/armor"
    more = policy({**THROTTLE, "action": "allow", "rateLimitOptions": None}, DENY_OTHERS)
    answer = google.diff(POLICY, made, more)
    assert not answer.replaces
    assert {path.split("[")[0] for path in answer.detailedDiff} == {"rules"}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([THROTTLE], "default rule with priority 2147483647"),
        ([THROTTLE, THROTTLE, DENY_OTHERS], "same priorities"),
        ([{**DENY_OTHERS, "action": "deny(429)"}], "rules\\[0\\].action': 'deny\\(429\\)'"),
        ([{**THROTTLE, "action": "allow"}, DENY_OTHERS], "rateLimitOptions': must be set for throttle"),
        ([{**DENY_OTHERS, "action": "throttle"}], "rateLimitOptions': must be set for throttle"),
        ([throttle(rateLimitThreshold={"count": 0, "intervalSec": 60}), DENY_OTHERS], "not between 1 and 1000000"),
        ([throttle(rateLimitThreshold={"count": 6, "intervalSec": 61}), DENY_OTHERS], "intervalSec': '61'"),
        ([throttle(conformAction="deny(403)"), DENY_OTHERS], "conformAction': must be allow"),
        ([throttle(exceedAction="allow"), DENY_OTHERS], "exceedAction': 'allow'"),
        (
            [
                {
                    **DENY_OTHERS,
                    "priority": 1,
                    "match": {"config": {"srcIpRanges": [f"192.0.2.{n}" for n in range(11)]}},
                },
                DENY_OTHERS,
            ],
            "has 11 elements",
        ),
    ],
)
def test_rules_that_compute_engine_rejects(google: Standin, network: object, rules: list[Props], message: str) -> None:
    with pytest.raises(Exception, match=message):
        google.create(POLICY, policy(*rules))
