"""An own VPC, an existing one, and one that another project shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmd_gke.graph.resources import Graph, ResourceNode
from llmd_gke.settings import StackSettings
from tests.components import kinds
from tests.components.kinds import of

Record = Callable[..., Graph]
ROUTER, NAT = "gcp:compute/router:Router", "gcp:compute/routerNat:RouterNat"
VPC, SUBNET = "projects/my-project/global/networks/corp", "projects/my-project/regions/europe-west4/subnetworks/gke"


def network(record: Record, exposure: str = "internal", **existing: str) -> Graph:
    return record(
        {
            "llmd-gke:network": {
                "proxies": "10.20.0.0/23",
                "existing": {"network": "corp", "subnet": "gke", **existing},
            },
            "llmd-gke:gateway": {"exposure": exposure, "allowPlainHttp": True, "open": exposure == "external"},
        },
        preview=True,
    )


def made(graph: Graph) -> list[str]:
    return sorted(node.name for node in graph.all("gcp:compute/"))


def cluster_of(graph: Graph) -> ResourceNode:
    return graph.find(kinds.CLUSTER)


def test_in_an_existing_network_only_the_gateways_address_is_made(record: Record) -> None:
    graph = network(record, podsRange="gke-pods", servicesRange="gke-services")
    assert made(graph) == ["network-gateway"]
    inputs = cluster_of(graph).inputs
    assert (inputs["network"], inputs["subnetwork"]) == (VPC, SUBNET)
    ranges: Any = inputs["ipAllocationPolicy"]
    assert ranges == {"clusterSecondaryRangeName": "gke-pods", "servicesSecondaryRangeName": "gke-services"}
    address = graph.find(kinds.ADDRESS).inputs
    assert (address["addressType"], address["subnetwork"]) == ("INTERNAL", SUBNET)


def test_addresses_that_replace_each_other_have_different_names(record: Record) -> None:
    """Google deletes none under a Gateway: the new one comes first."""
    own = record({"llmd-gke:gateway": {"allowPlainHttp": True}}, preview=True)
    existing = [network(record), network(record, subnet="other"), network(record, "external")]
    inside, one, other, outside = (graph.find(kinds.ADDRESS).inputs for graph in (own, *existing))
    assert (outside["name"], inside["name"]) == ("llmd-eu4a-gateway", "llmd-eu4a-gateway-internal")
    assert len({str(address["name"]) for address in (inside, one, other, outside)}) == 4
    assert outside["addressType"] == "EXTERNAL"
    assert "subnetwork" not in outside


def test_what_the_existing_network_lacks_is_made_in_it(record: Record) -> None:
    graph = network(record, proxies="create", nat="create")
    assert made(graph) == ["network-gateway", "network-nat", "network-proxies", "network-router"]
    assert graph.find(kinds.SUBNET).inputs["network"] == VPC
    assert graph.find(kinds.SUBNET).inputs["ipCidrRange"] == "10.20.0.0/23"
    assert graph.find(ROUTER).inputs["network"] == VPC
    nat = graph.find(NAT).inputs
    assert nat["sourceSubnetworkIpRangesToNat"] == "LIST_OF_SUBNETWORKS", "others in the VPC may have their own"
    assert nat["subnetworks"] == [{"name": SUBNET, "sourceIpRangesToNats": ["ALL_IP_RANGES"]}]
    assert graph.find(NAT).urn in graph.before(cluster_of(graph)), "private nodes pull images through it"
    assert graph.find(kinds.SUBNET).urn in graph.before(graph.find(kinds.GATEWAY))


def test_a_shared_network_is_looked_for_in_its_host_project(record: Record) -> None:
    graph = network(record, hostProject="host-project")
    inputs = cluster_of(graph).inputs
    assert inputs["network"] == VPC.replace("my-project", "host-project")
    assert inputs["subnetwork"] == SUBNET.replace("my-project", "host-project")
    assert made(graph) == ["network-gateway"]


def test_network_policies_admit_the_proxies_of_the_existing_network(record: Record) -> None:
    policies = str([kinds.spec(node) for node in of(kinds.NETWORK_POLICY)(network(record))])
    assert "10.20.0.0/23" in policies
    assert "10.9.0.0/23" not in policies


@pytest.mark.parametrize("protect", [True, False])
def test_an_own_network_is_protected_with_its_cluster(record: Record, protect: bool) -> None:
    graph = record({"llmd-gke:cluster": {"name": "llmd", "zone": "europe-west4-a", "protect": protect}}, preview=True)
    assert graph.find(kinds.VPC).protect is protect


FQDN_POLICY = "kubernetes:networking.gke.io/v1alpha1:FQDNNetworkPolicy"


@pytest.mark.parametrize("mode", ["open", "names"])
def test_the_cluster_knows_policies_by_name_where_there_are_any(record: Record, mode: str) -> None:
    graph = record({"llmd-gke:network": {"egress": {"mode": mode}}}, preview=True)
    policies = of(FQDN_POLICY)(graph)
    assert [node.name for node in policies] == (["qwen-allow-names"] if mode == "names" else [])
    assert cluster_of(graph).inputs.get("enableFqdnNetworkPolicy") is (True if mode == "names" else None)
    for policy in policies:
        assert policy.urn in graph.before(graph.find(kinds.SERVICE)), "the service's pods would start with nothing open"


def test_a_proxy_reaches_the_containers_that_download(record: Record) -> None:
    proxy = {"mode": "proxy", "proxy": "http://10.1.2.3:3128"}
    graph = record({"llmd-gke:network": {"egress": proxy}}, preview=True)
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
