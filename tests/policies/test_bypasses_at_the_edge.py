"""Ways around the rules for listeners, network policies, and the targets of policies and routes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.policies.conftest import InStack
from tests.policies.registered import CUT, HASHED, OLD_POOL, policy, thing
from tests.policies.support import Resource, of, run_pack


def listener(**fields: object) -> dict[str, Any]:
    return {"listeners": [{"name": "more", "protocol": "HTTP", "port": 8080, **fields}]}


OPEN_TO_ALL = {"allowedRoutes": {"namespaces": {"from": "All"}}}
LISTENERS = {
    "patch without a class": Resource(
        "kubernetes:gateway.networking.k8s.io/v1:GatewayPatch", "g", {"spec": listener(**OPEN_TO_ALL)}
    ),
    "patch that says nothing of namespaces": Resource(
        "kubernetes:gateway.networking.k8s.io/v1:GatewayPatch", "g", {"spec": listener()}
    ),
    "patch with HTTPS beside it": Resource(
        "kubernetes:gateway.networking.k8s.io/v1:GatewayPatch",
        "g",
        {"spec": {"listeners": [{"name": "s", "protocol": "HTTPS"}, *listener(**OPEN_TO_ALL)["listeners"]]}},
    ),
    "istio": thing("Gateway", "gateway.networking.k8s.io/v1", spec={"gatewayClassName": "istio", **listener()}),
    "another class": thing(
        "Gateway", "gateway.networking.k8s.io/v1", spec={"gatewayClassName": "public", **listener()}
    ),
    "TCP": thing(
        "Gateway",
        "gateway.networking.k8s.io/v1",
        spec={"gatewayClassName": "gke-l7-regional-external-managed", **listener(protocol="TCP")},
    ),
    "ListenerSet": thing("ListenerSet", "gateway.networking.k8s.io/v1", spec=listener(**OPEN_TO_ALL)),
    "XListenerSet": thing("XListenerSet", "gateway.networking.x-k8s.io/v1alpha1", spec=listener(**OPEN_TO_ALL)),
}


@pytest.mark.parametrize("resource", LISTENERS.values(), ids=LISTENERS)
def test_plain_listeners_are_found_wherever_they_are_added(resource: Resource, in_stack: InStack) -> None:
    in_stack("production")
    assert of(run_pack([resource]), "production-https", "MANDATORY")


OPEN_POLICIES: dict[str, Mapping[str, Any]] = {
    "empty rule": {"ingress": [{}]},
    "empty peers": {"ingress": [{"from": []}]},
    "empty peers and ports": {"egress": [{"to": [], "ports": []}]},
    "null": {"egress": [{"to": None}]},
    "ports only": {"ingress": [{"ports": [{"port": 8000}]}]},
    "all TCP": {"egress": [{"ports": [{"protocol": "TCP"}]}]},
    "all ports": {"egress": [{"ports": [{"port": 1, "endPort": 65535}]}]},
    "every namespace": {"ingress": [{"from": [{"namespaceSelector": {}}]}]},
    "every namespace and pod": {"ingress": [{"from": [{"namespaceSelector": {}, "podSelector": {}}]}]},
    "no labels": {"ingress": [{"from": [{"namespaceSelector": {"matchLabels": {}}}]}]},
    "a label that all have": {
        "ingress": [
            {
                "from": [
                    {
                        "namespaceSelector": {
                            "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "Exists"}]
                        }
                    }
                ]
            }
        ]
    },
    "all but one": {
        "ingress": [
            {
                "from": [
                    {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}}
                ]
            }
        ]
    },
    "one of several peers": {
        "ingress": [{"from": [{"podSelector": {"matchLabels": {"a": "b"}}}, {"ipBlock": {"cidr": "0.0.0.0/0"}}]}]
    },
    "with exceptions": {"ingress": [{"from": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}]}]},
    "a direction that is not enforced": {"policyTypes": ["Ingress"], "egress": [{"ports": [{"port": 53}]}]},
}


@pytest.mark.parametrize("spec", OPEN_POLICIES.values(), ids=OPEN_POLICIES)
def test_a_policy_that_admits_everybody_is_found_in_every_spelling(spec: Mapping[str, Any]) -> None:
    assert of(run_pack([policy(**spec)]), "network-policy-open")


@pytest.mark.parametrize(
    "spec",
    [
        {"ingress": [], "egress": [], "policyTypes": ["Ingress", "Egress"]},
        {"egress": [{"ports": [{"port": 53, "protocol": "UDP"}]}]},
        {"egress": [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 443}]}]},
        {"ingress": [{"from": [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"app": "x"}}}]}]},
        {"ingress": [{"from": [{"podSelector": {}}]}]},
    ],
)
def test_a_policy_that_restricts_something_is_accepted(spec: Mapping[str, Any]) -> None:
    assert of(run_pack([policy(**spec)]), "network-policy-open") == []


@pytest.mark.parametrize(
    "spec",
    [{"ingress": [{"fromEntities": ["world"]}]}, {"ingress": [{}]}, {"egress": [{"toCIDR": ["0.0.0.0/0"]}]},
     {"ingress": [{"fromEndpoints": [{}]}]}],
)  # fmt: skip
def test_policies_of_cilium_are_judged(spec: Mapping[str, Any]) -> None:
    resource = thing("CiliumClusterwideNetworkPolicy", "cilium.io/v2", spec={"endpointSelector": {}, **spec})
    assert of(run_pack([resource]), "network-policy-open")


def aimed(kind: str, **spec: object) -> Resource:
    return thing(kind, "networking.gke.io/v1", spec=spec)


TARGETS = {
    "GCPGatewayPolicy": aimed("GCPGatewayPolicy", targetRef=HASHED),
    "GCPSessionAffinityPolicy": aimed("GCPSessionAffinityPolicy", targetRef=HASHED),
    "several targets": aimed("GCPAuthzPolicy", targetRefs=[{"kind": "Gateway", "name": "g"}, HASHED]),
    "BackendTLSPolicy": thing("BackendTLSPolicy", "gateway.networking.k8s.io/v1", spec={"targetRefs": [HASHED]}),
    "a kind nobody knows": thing("Some", "example.com/v1", spec={"targetRef": HASHED}),
    "GRPCRoute": thing("GRPCRoute", "gateway.networking.k8s.io/v1", spec={"rules": [{"backendRefs": [HASHED]}]}),
    "HTTPRoute": thing(
        "HTTPRoute", "gateway.networking.k8s.io/v1", spec={"rules": [{"backendRefs": [{"name": HASHED["name"]}]}]}
    ),
    "KServe's hashed names": aimed("HealthCheckPolicy", targetRef=CUT),
    "GKE's Services": aimed("GCPBackendPolicy", targetRef={**HASHED, "name": "gkegw1-abcd-models-qwen-8000"}),
}


@pytest.mark.parametrize("resource", TARGETS.values(), ids=TARGETS)
def test_generated_names_are_targets_of_no_kind_of_policy(resource: Resource) -> None:
    assert of(run_pack([resource]), "generated-service-target", "MANDATORY")


POOLS = {
    "GCPTrafficDistributionPolicy": aimed("GCPTrafficDistributionPolicy", targetRefs=[OLD_POOL]),
    "GCPSessionAffinityPolicy": aimed("GCPSessionAffinityPolicy", targetRef=OLD_POOL),
    "GRPCRoute": thing("GRPCRoute", "gateway.networking.k8s.io/v1", spec={"rules": [{"backendRefs": [OLD_POOL]}]}),
    "a mirror": thing(
        "HTTPRoute",
        "gateway.networking.k8s.io/v1",
        spec={"rules": [{"filters": [{"type": "RequestMirror", "requestMirror": {"backendRef": OLD_POOL}}]}]},
    ),
}


@pytest.mark.parametrize("resource", POOLS.values(), ids=POOLS)
def test_pools_are_judged_as_targets_of_every_kind_of_policy_and_route(resource: Resource) -> None:
    assert of(run_pack([resource]), "inference-pool-group", "MANDATORY")


@pytest.mark.parametrize("kind", ["GCPGatewayPolicy", "GCPSessionAffinityPolicy", "GCPTrafficDistributionPolicy"])
def test_a_target_takes_one_policy_of_each_kind(kind: str) -> None:
    first = aimed(kind, targetRef={"group": "", "kind": "Service", "name": "vllm"})
    second = Resource(first.type, "second", {**first.inputs, "metadata": {"name": "second", "namespace": "models"}})
    assert of(run_pack([first, second]), "one-policy-per-target", "MANDATORY")
