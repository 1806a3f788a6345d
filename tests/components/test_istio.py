from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from llmd_gke.gateways import istio
from llmd_gke.gateways.gateway import GATEWAY_LABEL
from llmd_gke.graph.resources import Graph
from llmd_gke.rules.environment import KEEP_ALIVE_SECONDS
from tests.components import kinds
from tests.components.conftest import Record
from tests.components.kinds import metadata, of, spec
from tests.components.variants import variant

SECURITY = "kubernetes:security.istio.io/v1"
RULE = "kubernetes:networking.istio.io/v1:DestinationRule"
OF_GOOGLE = (
    "kubernetes:networking.gke.io/v1:GCPGatewayPolicy",
    "gcp:compute/regionSslPolicy:RegionSslPolicy",
    kinds.HEALTH,
    kinds.BACKEND,
    kinds.GATEWAY_CLASS,
)


@pytest.fixture
def external() -> Graph:
    return variant("mesh")


def selected(policy: Mapping[str, Any], direction: str, port: int) -> str:
    """The peers of a NetworkPolicy that may use a port, as text."""
    peers = {"ingress": "from", "egress": "to"}[direction]
    return str([rule.get(peers) for rule in policy[direction] if port in [one["port"] for one in rule["ports"]]])


def test_the_control_plane_comes_before_the_gateway_and_nothing_of_googles_is_made(external: Graph) -> None:
    ((crds,), (control,)) = (kinds.chart(name)(external) for name in (istio.BASE_CHART, istio.CONTROLLER_CHART))
    gateway = external.find(kinds.GATEWAY)
    assert external.comes_before(crds, control)
    assert external.comes_before(control, gateway)
    assert external.comes_before(external.find(kinds.POOL_API), control), "istiod looks for pools when it starts"
    assert control.deleted_with == external.find(kinds.CLUSTER).urn
    assert [node.name for kind in OF_GOOGLE for node in of(kind)(external)] == []
    assert kinds.proxy_subnet(external) == []


def test_the_gateway_has_the_reserved_address_and_ports_for_everyone(external: Graph) -> None:
    gateway, address = spec(external.find(kinds.GATEWAY)), external.find(kinds.ADDRESS)
    assert cast("Any", gateway["addresses"]) == [{"type": "IPAddress", "value": external.outputs["gatewayIp"]}]
    assert external.comes_before(address, external.find(kinds.GATEWAY))
    assert cast("Any", gateway["infrastructure"])["annotations"]["cloud.google.com/network-tier"] == "Standard"
    clients = cast("Any", spec(external.find(kinds.NETWORK_POLICY, "edge-allow-clients")))
    assert clients["ingress"][0] == {"ports": [{"protocol": "TCP", "port": port} for port in (443, 80)]}


def test_an_issuers_certificate_is_there_before_the_gateway(external: Graph) -> None:
    (certificate,), (manager,) = (
        of("kubernetes:cert-manager.io/v1:Certificate")(external),
        kinds.chart("cert-manager")(external),
    )
    assert external.comes_before(manager, certificate)
    assert external.comes_before(certificate, external.find(kinds.GATEWAY))
    listener = cast("Any", spec(external.find(kinds.GATEWAY)))["listeners"][0]
    assert listener["tls"]["certificateRefs"][0]["name"] == spec(certificate)["secretName"]
    assert spec(certificate)["dnsNames"] == [listener["hostname"]]


def test_an_internal_gateway_has_an_internal_load_balancer(record: Record) -> None:
    graph = record({"llmd-gke:gateway": {"class": "istio", "allowGlobalAccess": True}})
    gateway = cast("Any", spec(graph.find(kinds.GATEWAY)))
    assert gateway["infrastructure"]["annotations"] == {**istio.INTERNAL, **istio.GLOBAL_ACCESS}


@pytest.mark.parametrize(("door", "reads_pools"), [(None, "true"), ({}, "false"), ({"keepPaths": True}, "true")])
def test_istiod_leaves_pools_alone_that_only_a_front_door_routes_to(
    record: Record, door: object, reads_pools: str
) -> None:
    edge = {"class": "istio", "exposure": "external", "allowPlainHttp": True}
    with_door = {} if door is None else {"llmd-gke:frontDoor": {"callers": [{"name": "team-a"}], **cast("Any", door)}}
    graph = record({"llmd-gke:gateway": edge if door is not None else {**edge, "open": True}, **with_door})
    (control,) = kinds.chart(istio.CONTROLLER_CHART)(graph)
    values = cast("Any", control.inputs["values"])
    assert values["env"] == {"ENABLE_GATEWAY_API_INFERENCE_EXTENSION": reads_pools}


def test_the_proxies_close_idle_connections_to_servers_before_the_servers_do(external: Graph) -> None:
    (control,) = kinds.chart(istio.CONTROLLER_CHART)(external)
    policy = cast("Any", control.inputs["values"])["meshConfig"]["defaultTrafficPolicy"]
    assert int(policy["connectionPool"]["http"]["idleTimeout"].removesuffix("s")) < KEEP_ALIVE_SECONDS


def test_each_model_has_a_rule_for_its_picker_and_a_limit_in_its_route(external: Graph) -> None:
    rule, route = external.find(RULE), external.find(kinds.ROUTE, "qwen-route")
    assert spec(rule)["host"] == "qwen-epp-service.models.svc.cluster.local"
    rules = cast("Any", spec(route)["rules"])
    assert {one["timeouts"]["request"] for one in rules} == {"600s"}
    assert external.comes_before(external.find(kinds.GATEWAY), route)
    assert external.comes_before(kinds.chart(istio.BASE_CHART)(external)[0], rule)


def test_only_the_proxies_reach_models_and_pickers_and_only_they_reach_the_control_plane(external: Graph) -> None:
    policies = {node.name: cast("Any", spec(node)) for node in of(kinds.NETWORK_POLICY)(external)}
    for name, port in (("qwen-allow-workload", 8000), ("qwen-allow-picker", 9002)):
        peers = selected(policies[name], "ingress", port)
        assert GATEWAY_LABEL in peers
        assert "ipBlock" not in peers
        assert "'models'" in selected(policies["edge-allow-clients"], "egress", port)
    assert "inference-gateway" in selected(policies["istio-allow-proxies"], "ingress", istio.XDS_PORT)
    assert istio.NAMESPACE in selected(policies["edge-allow-clients"], "egress", istio.XDS_PORT)
    levels = {
        str(metadata(node, "name")): cast("Any", metadata(node, "labels"))["pod-security.kubernetes.io/enforce"]
        for node in of(kinds.NAMESPACE)(external)
    }
    assert (levels[istio.NAMESPACE], levels["inference-gateway"]) == ("restricted", "restricted")


def test_servers_in_the_mesh_take_requests_of_the_gateways_identity_only(external: Graph) -> None:
    ((plugin,), (control,)) = (kinds.chart(name)(external) for name in (istio.CNI_CHART, istio.CONTROLLER_CHART))
    assert external.comes_before(plugin, control)
    assert "'cni': {'enabled': True}" in str(control.inputs["values"])
    service = spec(external.find(kinds.SERVICE))
    assert external.comes_before(control, external.find(kinds.SERVICE)), "a pod that comes earlier has no sidecar"
    assert cast("Any", service["labels"]).items() >= istio.SIDECAR.items()
    callers = cast("Any", spec(external.find(f"{SECURITY}:AuthorizationPolicy")))
    mtls = cast("Any", spec(external.find(f"{SECURITY}:PeerAuthentication")))
    assert callers["selector"] == mtls["selector"]
    assert mtls["mtls"] == {"mode": "PERMISSIVE"}
    (caller,) = callers["rules"][0]["from"][0]["source"]["principals"]
    assert caller == "cluster.local/ns/inference-gateway/sa/inference-gateway-istio"
    policies = {node.name: cast("Any", spec(node)) for node in of(kinds.NETWORK_POLICY)(external)}
    assert istio.NAMESPACE in selected(policies["qwen-allow-workload"], "egress", istio.XDS_PORT)
    assert "'models'" in selected(policies["istio-allow-proxies"], "ingress", istio.XDS_PORT)


def test_behind_istio_the_front_door_has_a_limit_and_lets_the_proxies_in(record: Record) -> None:
    gateway = {"class": "istio", "exposure": "external", "allowPlainHttp": True}
    graph = record({"llmd-gke:gateway": gateway}, stack="door")
    (rule,) = cast("Any", spec(graph.find(kinds.ROUTE, "front-door-route"))["rules"])
    assert rule["timeouts"] == {"request": "600s"}
    assert [node.name for kind in (*OF_GOOGLE, RULE) for node in of(kind)(graph)] == []
    door = cast("Any", spec(graph.find(kinds.NETWORK_POLICY, "front-door-allow-clients")))
    assert GATEWAY_LABEL in str(door["ingress"])
