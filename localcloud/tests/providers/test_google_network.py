"""Networks: what is in use stays, what overlaps is refused, nothing is adopted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from llmd_common.pulumi_signatures import UNKNOWN

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Result, Standin

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
NAT = "gcp:compute/routerNat:RouterNat"
ADDRESS = "gcp:compute/address:Address"


def proxies(**over: object) -> dict[str, object]:
    base = {
        "name": "proxies",
        "network": "vpc",
        "ipCidrRange": "10.128.0.0/23",
        "purpose": "REGIONAL_MANAGED_PROXY",
        "role": "ACTIVE",
    }
    return base | over


def test_computed_outputs_are_unknown_in_the_first_preview_and_known_afterwards(google: Standin):
    preview = google.create(ADDRESS, {"name": "ip"}, preview=True)
    assert preview.outputs["address"] == UNKNOWN
    assert preview.outputs["name"] == "ip"
    assert preview.id == ""
    made = google.create(ADDRESS, {"name": "ip"})
    assert made.id == "projects/rehearsal/regions/europe-west4/addresses/ip"
    assert made.outputs["address"].startswith("203.0.113.")
    later = google.update(ADDRESS, made, {"name": "ip", "labels": {"a": "b"}}, preview=True)
    assert later["address"] == made.outputs["address"]


def test_labels_of_the_provider_are_on_every_labelled_resource(google: Standin):
    made = google.create(ADDRESS, {"name": "ip", "labels": {"a": "b"}})
    assert made.outputs["effectiveLabels"] == {"a": "b", "team": "llm", "goog-pulumi-provisioned": "true"}


def test_changed_labels_of_the_provider_are_a_difference(google: Standin):
    made = google.create(ADDRESS, {"name": "ip"})
    google.configure(project="rehearsal", region="europe-west4", defaultLabels='{"team":"other"}')
    assert "effectiveLabels" in google.diff(ADDRESS, made, {"name": "ip"}).diffs


def test_what_exists_is_not_adopted(google: Standin, network: Result):
    with pytest.raises(
        Exception,
        match="Error 409: The resource 'projects/rehearsal/global/networks/vpc' already exists, alreadyExists",
    ):
        google.create(NETWORK, {"name": "vpc"})


def test_a_subnetwork_needs_its_network(google: Standin):
    with pytest.raises(
        Exception, match="Error 404: The resource 'projects/rehearsal/global/networks/none' was not found"
    ):
        google.create(SUBNETWORK, {"name": "nodes", "network": "none", "ipCidrRange": "10.0.0.0/20"})


OLDER = "projects/corp-net/regions/europe-west4/subnetworks/gke"
INSIDE = {"name": "ip", "addressType": "INTERNAL", "subnetwork": OLDER}


def test_a_subnet_older_than_the_stack_is_there_only_where_it_is_said(google: Standin):
    with pytest.raises(Exception, match=f"Error 404: The resource '{OLDER}' was not found") as refusal:
        google.create(ADDRESS, INSIDE)
    assert "LLMD_GKE_FAULTS with existingSubnets, docs/network.md" in str(refusal.value)
    google.faults(enabledApis=["*"], existingSubnets={OLDER: {"network": "corp", "ipCidrRange": "10.0.0.0/20"}})
    google.create(ADDRESS, INSIDE)
    cloud = json.loads((google.folder / "google.json").read_text())
    assert list(cloud["objects"]) == [ADDRESS], "what no stack made is nothing to remove"


def test_an_older_network_has_room_for_what_does_not_overlap(google: Standin):
    older = {"network": "corp", "ipCidrRange": "10.0.0.0/20"}
    google.faults(enabledApis=["*"], existingSubnets={OLDER: older})
    wanted = {"name": "more", "network": "projects/corp-net/global/networks/corp"}
    with pytest.raises(Exception, match=r"conflicts with existing subnetwork 'gke'"):
        google.create(SUBNETWORK, {**wanted, "ipCidrRange": "10.0.8.0/24"})
    google.create(SUBNETWORK, {**wanted, "ipCidrRange": "10.1.0.0/24"})
    with pytest.raises(Exception, match="Error 409: The resource 'projects/corp-net/global/networks/corp'"):
        google.create(NETWORK, {"name": "corp", "project": "corp-net"})


@pytest.mark.parametrize("wrong", [{"gke": {"network": "corp"}}, {OLDER: {}}, ["gke"]])
def test_an_older_subnet_that_says_too_little_is_refused(google: Standin, wrong: object):
    google.faults(enabledApis=["*"], existingSubnets=wrong)
    with pytest.raises(Exception, match="existingSubnets"):
        google.create(ADDRESS, INSIDE)


def test_a_network_cannot_vanish_under_its_subnetworks(google: Standin, network: Result, subnet: Result):
    with pytest.raises(
        Exception, match=r"already being used by '.*/subnetworks/nodes', resourceInUseByAnotherResource"
    ):
        google.delete(NETWORK, network)
    google.delete(SUBNETWORK, subnet)
    google.delete(NETWORK, network)


def test_a_subnetwork_cannot_vanish_under_a_cluster(google: Standin, subnet: Result, cluster: Result):
    with pytest.raises(Exception, match=r"already being used by '.*/clusters/gke', resourceInUseByAnotherResource"):
        google.delete(SUBNETWORK, subnet)


def test_a_network_is_in_use_for_a_while_after_its_cluster_is_gone(
    google: Standin, network: Result, subnet: Result, cluster: Result
):
    google.faults(enabledApis=["*"], inUseAfterCluster=3600)
    google.delete("gcp:container/cluster:Cluster", cluster)
    google.delete(SUBNETWORK, subnet)
    with pytest.raises(Exception, match=r"already being used by '.*/networkEndpointGroups/.*', resourceInUse"):
        google.delete(NETWORK, network)
    saved = google.folder / "google.json"
    cloud = json.loads(saved.read_text())
    for left in cloud["lingering"].values():
        left["until"] = 0
    saved.write_text(json.dumps(cloud))
    google.delete(NETWORK, network)
    assert "lingering" not in json.loads(saved.read_text())


def test_a_subnetwork_cannot_vanish_under_an_address(google: Standin, subnet: Result):
    google.create(ADDRESS, {"name": "ip", "addressType": "INTERNAL", "subnetwork": subnet.id})
    with pytest.raises(Exception, match="resourceInUseByAnotherResource"):
        google.delete(SUBNETWORK, subnet)


def test_ranges_of_a_network_must_not_overlap(google: Standin, subnet: Result):
    with pytest.raises(Exception, match=r"Invalid IPCidrRange: 10.5.0.0/16 conflicts with existing subnetwork 'nodes'"):
        google.create(SUBNETWORK, {"name": "more", "network": "vpc", "ipCidrRange": "10.5.0.0/16"})
    google.create(SUBNETWORK, {"name": "more", "network": "vpc", "ipCidrRange": "10.8.0.0/16"})


def test_a_region_of_a_network_has_one_active_proxy_only_subnetwork(google: Standin, network: Result):
    google.create(SUBNETWORK, proxies())
    with pytest.raises(Exception, match="already an active REGIONAL_MANAGED_PROXY subnetwork 'proxies'"):
        google.create(SUBNETWORK, proxies(name="again", ipCidrRange="10.129.0.0/23"))
    google.create(SUBNETWORK, proxies(name="spare", ipCidrRange="10.129.0.0/23", role="BACKUP"))
    google.create(SUBNETWORK, proxies(name="elsewhere", ipCidrRange="10.130.0.0/23", region="us-east5"))


def test_a_second_nat_for_all_ranges_of_a_network_and_region_is_refused(google: Standin, network: Result):
    nat = {"natIpAllocateOption": "AUTO_ONLY", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}
    for router in ("one", "two"):
        google.create(ROUTER, {"name": router, "network": "vpc"})
    google.create(NAT, {"name": "nat", "router": "one", **nat})
    with pytest.raises(Exception, match="another NAT 'nat' of network 'vpc' in region 'europe-west4'"):
        google.create(NAT, {"name": "other", "router": "two", **nat})


def test_a_router_takes_its_nat_along(google: Standin, network: Result):
    router = google.create(ROUTER, {"name": "one", "network": "vpc"})
    nat = google.create(NAT, {"name": "nat", "router": "one", "sourceSubnetworkIpRangesToNat": "LIST_OF_SUBNETWORKS"})
    assert nat.id == "rehearsal/europe-west4/one/nat"
    google.delete(ROUTER, router)
    assert google.read(NAT, nat.id) is None


def test_an_internal_address_has_no_standard_tier(google: Standin):
    with pytest.raises(Exception, match="always in the PREMIUM tier"):
        google.check(ADDRESS, {"name": "ip", "addressType": "INTERNAL", "networkTier": "STANDARD"})


@pytest.mark.parametrize(
    ("change", "replaces"),
    [
        ({"privateIpGoogleAccess": True}, False),
        ({"ipCidrRange": "10.0.0.0/19"}, False),
        ({"ipCidrRange": "10.0.0.0/21"}, True),
        ({"ipCidrRange": "10.1.0.0/20"}, True),
        ({"description": "other"}, True),
    ],
)
def test_a_range_grows_in_place_and_anything_else_makes_a_new_subnetwork(
    google: Standin, subnet: Result, change: dict[str, object], replaces: bool
):
    answer = google.diff(SUBNETWORK, subnet, {k: v for k, v in subnet.inputs.items() if k != "__defaults"} | change)
    assert bool(answer.replaces) is replaces
    assert answer.deleteBeforeReplace is replaces, "the new one has the same name"


def test_no_change_is_no_difference(google: Standin, subnet: Result):
    assert not google.diff(SUBNETWORK, subnet, subnet.inputs).detailedDiff


def test_a_replacement_under_a_made_up_name_is_created_first(google: Standin):
    made = google.create(ADDRESS, {"addressType": "EXTERNAL"})
    answer = google.diff(ADDRESS, made, {"addressType": "INTERNAL"})
    assert answer.replaces
    assert not answer.deleteBeforeReplace


def test_read_shows_what_was_changed_behind_the_engines_back(google: Standin, subnet: Result):
    import json

    file = google.folder / "google.json"
    content = json.loads(file.read_text())
    content["objects"][SUBNETWORK][subnet.id]["inputs"]["privateIpGoogleAccess"] = True
    file.write_text(json.dumps(content))
    current = google.read(SUBNETWORK, subnet.id, subnet.inputs)
    assert current is not None
    assert current[0].values["privateIpGoogleAccess"] is True
    assert current[1].values["privateIpGoogleAccess"] is True


def test_read_without_any_knowledge_finds_inputs_for_an_import(google: Standin, subnet: Result):
    current = google.read(SUBNETWORK, subnet.id)
    assert current is not None
    assert current[0].values["ipCidrRange"] == "10.0.0.0/20"
