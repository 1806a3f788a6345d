"""What NetworkPolicies, read as they are written, let collectors reach."""

from __future__ import annotations

import pytest

from llmd_common.kubernetes.fields import Object
from llmd_gke.manifests import scraping
from localcloud.monitoring.collector import CALLER
from localcloud.monitoring.network_policies import refusal
from localcloud.tests.monitoring.cluster import pod, policy

SERVER = pod("server-1")
CLOSED = policy("default-deny")
COLLECTORS: Object = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "gmp-system"}}}


@pytest.mark.parametrize(
    ("rule", "admitted"),
    [
        ({}, True),
        ({"from": [COLLECTORS]}, True),
        ({"from": [{"namespaceSelector": {}}]}, True),
        ({"from": [{**COLLECTORS, "podSelector": {"matchLabels": {"app.kubernetes.io/name": "collector"}}}]}, True),
        ({"from": [{**COLLECTORS, "podSelector": {"matchLabels": {"app": "another"}}}]}, False),
        ({"from": [{"podSelector": {}}]}, False),  # pods of the policy's own namespace
        ({"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}, False),
        ({"from": [COLLECTORS], "ports": [{"port": 8000}]}, True),
        ({"from": [COLLECTORS], "ports": [{"port": "http", "protocol": "TCP"}]}, True),
        ({"from": [COLLECTORS], "ports": [{"port": "metrics"}]}, False),
        ({"from": [COLLECTORS], "ports": [{"port": 8000, "protocol": "UDP"}]}, False),
        ({"from": [COLLECTORS], "ports": [{"port": 7000, "endPort": 9000}]}, True),
        ({"from": [COLLECTORS], "ports": [{"port": 9090}]}, False),
    ],
)
def test_a_rule_admits_by_peer_and_port(rule: Object, admitted: bool) -> None:
    assert (refusal([CLOSED, policy("one", rule)], SERVER, 8000, CALLER) == "") is admitted


def test_the_programs_own_policy_admits_the_collectors_to_its_two_ports_and_no_other() -> None:
    own = scraping.network_policy("models")
    labelled = pod("server-1")
    labelled["metadata"]["labels"] = {"app.kubernetes.io/part-of": "llminferenceservice"}
    refused = {port for port in (8000, 8001, 9090, 9002) if refusal([CLOSED, own], labelled, port, CALLER)}
    assert refused == {8001, 9002}
