"""Ways around the rules for clusters and pools of Google Cloud: other spellings, other fields."""

from __future__ import annotations

import pytest

from tests.policies.conftest import InStack
from tests.policies.registered import cluster, policy
from tests.policies.support import of, run_pack

EVERYBODY = {
    "0.0.0.0/0": ["0.0.0.0/0"],
    "two halves": ["0.0.0.0/1", "128.0.0.0/1"],
    "quarters": ["0.0.0.0/2", "64.0.0.0/2", "128.0.0.0/2", "192.0.0.0/2"],
    "IPv6": ["::/0"],
    "halves of IPv6": ["::/1", "8000::/1"],
    "all of IPv6 that is given out": ["2000::/3"],
    "IPv4 in IPv6": ["::ffff:0:0/96"],
    "two digits": ["0.0.0.0/00"],
    "a netmask": ["0.0.0.0/0.0.0.0"],
    "host bits": ["8.8.8.8/0"],
    "spaces": [" 0.0.0.0/0 "],
    "shorter than /8": ["64.0.0.0/6"],
    "256 ranges of /8": [f"{first}.0.0.0/8" for first in range(256)],
}


@pytest.mark.parametrize("ranges", EVERYBODY.values(), ids=EVERYBODY)
def test_everybody_is_recognized_in_every_spelling(ranges: list[str], in_stack: InStack) -> None:
    in_stack("production")
    blocks = [{"cidrBlock": one} for one in ranges]
    diagnostics = run_pack([cluster(masterAuthorizedNetworksConfig={"cidrBlocks": blocks})])
    assert of(diagnostics, "production-control-plane", "MANDATORY")
    peers = [{"ipBlock": {"cidr": one}} for one in ranges]
    assert of(run_pack([policy(ingress=[{"from": peers}])]), "network-policy-open")
    assert of(run_pack([policy(egress=[{"to": peers}])]), "network-policy-open")


def test_ranges_of_offices_are_accepted(in_stack: InStack) -> None:
    in_stack("prod")
    for one in ("10.0.0.0/8", "203.0.113.0/24", "2001:db8::/32", "192.0.2.1/32"):
        diagnostics = run_pack([cluster(masterAuthorizedNetworksConfig={"cidrBlocks": [{"cidrBlock": one}]})])
        assert of(diagnostics, "production-control-plane") == [], one
        assert of(run_pack([policy(ingress=[{"from": [{"ipBlock": {"cidr": one}}]}])]), "network-policy-open") == []


@pytest.mark.parametrize("stack", ["prod", "production", "prod-eu", "PROD", "Production.eu"])
def test_production_is_recognized_by_a_pattern(stack: str, in_stack: InStack) -> None:
    in_stack(stack)
    assert of(run_pack([cluster()]), "production-private-nodes", "MANDATORY")
    in_stack("dev")
    assert of(run_pack([cluster()]), "production-private-nodes") == []
