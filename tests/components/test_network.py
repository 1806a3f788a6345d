"""An own VPC, an existing one, and one that another project shares."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llmd_gke.graph.resources import Graph
from llmd_gke.settings import StackSettings
from tests.components import kinds
from tests.components.kinds import of
from tests.components.variants import variant

Record = Callable[..., Graph]
ROUTER, NAT = "gcp:compute/router:Router", "gcp:compute/routerNat:RouterNat"
VPC, SUBNET = "projects/my-project/global/networks/corp", "projects/my-project/regions/europe-west4/subnetworks/gke"


def network(record: Record, **existing: str) -> Graph:
    return record(
        {
            "llmd-gke:network": {
                "proxies": "10.20.0.0/23",
                "existing": {"network": "corp", "subnet": "gke", **existing},
            },
            "llmd-gke:gateway": {"exposure": "internal", "allowPlainHttp": True},
        },
        preview=True,
    )


def made(graph: Graph) -> list[str]:
    return sorted(node.name for node in graph.all("gcp:compute/"))


def test_in_an_existing_network_of_another_project_only_the_gateways_address_is_made(record: Record) -> None:
    graph = network(record, hostProject="host-project", podsRange="gke-pods", servicesRange="gke-services")
    assert made(graph) == ["network-gateway"]
    vpc, subnet = (path.replace("my-project", "host-project") for path in (VPC, SUBNET))
    inputs = graph.find(kinds.CLUSTER).inputs
    assert (inputs["network"], inputs["subnetwork"]) == (vpc, subnet)
    assert inputs["ipAllocationPolicy"] == {
        "clusterSecondaryRangeName": "gke-pods",
        "servicesSecondaryRangeName": "gke-services",
    }
    address = graph.find(kinds.ADDRESS).inputs
    assert (address["addressType"], address["subnetwork"]) == ("INTERNAL", subnet)
    policies = str([kinds.spec(node) for node in of(kinds.NETWORK_POLICY)(graph)])
    assert "10.20.0.0/23" in policies
    assert "10.9.0.0/23" not in policies


def test_addresses_that_replace_each_other_have_different_names(record: Record) -> None:
    """Google deletes none under a Gateway: the new one comes first."""
    own, outside = (graph.find(kinds.ADDRESS).inputs for graph in (variant("bare"), record()))
    assert (outside["name"], own["name"]) == ("llmd-eu4a-gateway", "llmd-eu4a-gateway-internal")
    assert (outside["addressType"], "subnetwork" in outside) == ("EXTERNAL", False)
    names = {str(network(record, subnet=name).find(kinds.ADDRESS).inputs["name"]) for name in ("gke", "other")}
    assert len(names - {str(own["name"]), str(outside["name"])}) == 2


def test_what_the_existing_network_lacks_is_made_in_it(record: Record) -> None:
    graph = network(record, proxies="create", nat="create")
    assert made(graph) == ["network-gateway", "network-nat", "network-proxies", "network-router"]
    assert graph.find(kinds.SUBNET).inputs["network"] == VPC
    assert graph.find(kinds.SUBNET).inputs["ipCidrRange"] == "10.20.0.0/23"
    assert graph.find(ROUTER).inputs["network"] == VPC
    nat = graph.find(NAT).inputs
    assert nat["sourceSubnetworkIpRangesToNat"] == "LIST_OF_SUBNETWORKS", "others in the VPC may have their own"
    assert nat["subnetworks"] == [{"name": SUBNET, "sourceIpRangesToNats": ["ALL_IP_RANGES"]}]
    assert graph.find(NAT).urn in graph.before(graph.find(kinds.CLUSTER)), "private nodes pull images through it"
    assert graph.find(kinds.SUBNET).urn in graph.before(graph.find(kinds.GATEWAY))


FQDN_POLICY = "kubernetes:networking.gke.io/v1alpha1:FQDNNetworkPolicy"


@pytest.mark.parametrize("stack", ["eu4a", "prod"])
def test_the_cluster_knows_policies_by_name_where_there_are_any(stack: str, graph: Graph) -> None:
    by_name = stack == "prod"
    policies = of(FQDN_POLICY)(graph)
    assert [node.name for node in policies] == (["qwen-allow-names"] if by_name else [])
    assert graph.find(kinds.CLUSTER).inputs.get("enableFqdnNetworkPolicy") is (True if by_name else None)
    for policy in policies:
        assert policy.urn in graph.before(graph.find(kinds.SERVICE)), "the service's pods would start with nothing open"


def test_a_proxy_reaches_the_containers_that_download() -> None:
    graph = variant("gke")
    for kind in (kinds.CONFIG, kinds.SERVICE):
        assert "http://10.1.2.3:3128" in str(kinds.spec(graph.find(kind)))
    rules = str([kinds.spec(node) for node in of(kinds.NETWORK_POLICY)(graph)])
    assert "10.1.2.3/32" in rules
    assert "0.0.0.0/0" not in rules


def test_hosts_that_download_get_more_ports_of_nat_than_its_default(graph: Graph, settings: StackSettings) -> None:
    result = of(NAT)(graph)
    assert result
    for nat in result:
        assert nat.inputs["enableDynamicPortAllocation"] is True
        assert (nat.inputs["minPortsPerVm"], nat.inputs["maxPortsPerVm"]) == (256, 65536)
        logged = "ALL" if settings.cluster.audit else "ERRORS_ONLY"
        assert nat.inputs["logConfig"] == {"enable": True, "filter": logged}
