from __future__ import annotations

import json

from tests.components import kinds
from tests.components.conftest import Record
from tests.components.variants import variant

SSL_POLICY = "gcp:compute/regionSslPolicy:RegionSslPolicy"
RECORD_SET = "gcp:dns/recordSet:RecordSet"
GATEWAY_POLICY = "kubernetes:networking.gke.io/v1:GCPGatewayPolicy"


def test_the_ssl_policy_is_regional_and_the_gateway_policy_names_it() -> None:
    graph = variant("edge")
    policy = graph.find(SSL_POLICY)
    assert (policy.inputs["minTlsVersion"], policy.inputs["profile"]) == ("TLS_1_2", "MODERN")
    assert policy.inputs["region"] == "europe-west4"
    named = kinds.spec(graph.find(GATEWAY_POLICY))["default"]
    assert named == {"sslPolicy": policy.inputs["name"]}
    assert graph.comes_before(policy, graph.find(GATEWAY_POLICY))


def test_the_record_needs_the_address_and_not_the_gateway() -> None:
    graph = variant("edge")
    dns = graph.find(RECORD_SET)
    assert (dns.inputs["name"], dns.inputs["type"], dns.inputs["managedZone"]) == (
        "llm.example.com.",
        "A",
        "example-com",
    )
    assert graph.comes_before(graph.find(kinds.ADDRESS), dns)
    assert not graph.comes_before(graph.find(kinds.GATEWAY), dns)
    assert any(api.inputs["service"] == "dns.googleapis.com" for api in kinds.of(kinds.API)(graph))


def test_the_redirect_comes_after_the_gateway_and_outputs_say_https_and_the_domain() -> None:
    graph = variant("edge")
    redirect = graph.find(kinds.ROUTE, "edge-redirect")
    assert graph.comes_before(graph.find(kinds.GATEWAY), redirect)
    assert "https://llm.example.com/models/qwen" in json.dumps(graph.outputs)


def test_without_settings_for_it_there_is_none_of_this(record: Record) -> None:
    graph = record()
    assert not [node for node in graph.nodes.values() if node.type in {SSL_POLICY, RECORD_SET, GATEWAY_POLICY}]


def test_a_certificate_of_ones_own_is_a_secret_before_the_gateway() -> None:
    graph = variant("storage")
    certificate = graph.find(kinds.SECRET, "edge-certificate")
    assert certificate.inputs["type"] == "kubernetes.io/tls"
    assert kinds.metadata(certificate, "name") == "gateway-certificate"
    assert graph.comes_before(certificate, graph.find(kinds.GATEWAY))
