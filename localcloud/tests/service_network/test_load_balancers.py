from __future__ import annotations

from llmd_common.kubernetes.fields import Object
from localcloud.service_network.load_balancers import assigned
from localcloud.service_network.routing_table import table


def service(name: str, kind: str = "LoadBalancer", asked: str = "", given: str = "", internal: bool = False) -> Object:
    return {
        "metadata": {
            "namespace": "n",
            "name": name,
            "annotations": {"networking.gke.io/load-balancer-type": "Internal"} if internal else {},
        },
        "spec": {"type": kind, "clusterIPs": ["10.96.0.9"], "ports": [{"port": 80}], "loadBalancerIP": asked},
        "status": {"loadBalancer": {"ingress": [{"ip": given}] if given else []}},
    }


def test_a_service_gets_the_address_it_asks_for_or_one_of_its_own_and_keeps_it() -> None:
    services = [
        service("any"),
        service("asks", asked="203.0.113.254"),
        service("asks-later", asked="203.0.113.254"),
        service("has", given="203.0.113.253"),
        service("internal", internal=True),
        service("other", "ClusterIP"),
    ]
    assert {name: address for (_, name), address in assigned(services).items()} == {
        "any": "203.0.113.252",
        "asks": "203.0.113.254",
        "has": "203.0.113.253",
        "internal": "10.0.0.254",
    }


def test_connections_to_a_load_balancer_reach_the_services_endpoints_until_it_is_none_any_more() -> None:
    port: Object = {"endpoints": [{"addresses": ["10.244.0.7"]}], "ports": [{"port": 8080}]}
    slices: list[Object] = [
        {"metadata": {"namespace": "n", "labels": {"kubernetes.io/service-name": "gateway"}}, **port}
    ]
    there = {("10.96.0.9", 80): (("10.244.0.7", 8080),)}
    balanced, ended = (service("gateway", kind, given="203.0.113.1") for kind in ("LoadBalancer", "ClusterIP"))
    assert table([balanced], slices) == {**there, ("203.0.113.1", 80): (("10.244.0.7", 8080),)}
    assert table([ended], slices) == there
