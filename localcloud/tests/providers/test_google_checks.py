"""Properties: unknown, missing and misshapen ones are refused, by the SDK's own types."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from llmd_common.pulumi_signatures import UNKNOWN
from llmd_gke.catalog import versions
from localcloud.providers.google import generate, generate_traits, schema
from localcloud.providers.google.registry import KINDS

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Standin

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
FIREWALL = "gcp:compute/firewall:Firewall"
POOL = "gcp:container/nodePool:NodePool"


@pytest.mark.slow
def test_the_table_of_properties_is_what_the_sdk_gives(tmp_path):
    generate.write(tmp_path / "types.json")
    assert (tmp_path / "types.json").read_text() == schema.TABLE.read_text()


def test_the_plugin_serves_the_types_that_have_rules():
    assert generate.RESOURCES.read_text() == generate.resources()
    assert len(json.loads(generate.RESOURCES.read_text())) == len(KINDS)


def test_every_type_with_rules_is_in_the_table_and_the_other_way_round():
    assert KINDS.keys() == schema.table()["types"].keys()


@pytest.mark.parametrize("token", [token for token, kind in KINDS.items() if kind.force_new_if])
def test_properties_that_a_module_judges_itself_exist(token: str):
    judged = KINDS[token].force_new_if
    assert judged
    for path in judged:
        assert schema.type_of(token, path), f"{token} has no {path}"


def test_an_unknown_property_is_refused_with_the_nearest_known_one(google: Standin):
    with pytest.raises(Exception, match=r"autoCreateSubnetwork.*did you mean autoCreateSubnetworks"):
        google.check(NETWORK, {"autoCreateSubnetwork": False})


def test_an_unknown_nested_property_is_refused_with_its_path(google: Standin):
    with pytest.raises(Exception, match=r"nodeConfig\.machinetype.*did you mean machineType"):
        google.check(POOL, {"cluster": "gke", "nodeConfig": {"machinetype": "e2-medium"}})


def test_a_missing_required_property_is_refused(google: Standin):
    with pytest.raises(Exception, match="cluster: Missing required"):
        google.check(POOL, {"name": "pool"})


def test_a_missing_required_property_in_a_list_of_blocks_is_refused(google: Standin):
    with pytest.raises(Exception, match=r"secondaryIpRanges\[0\]\.rangeName: Missing required"):
        google.check(
            "gcp:compute/subnetwork:Subnetwork",
            {"network": "vpc", "ipCidrRange": "10.0.0.0/20", "secondaryIpRanges": [{"ipCidrRange": "10.1.0.0/16"}]},
        )


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        ({"autoscaling": 3}, "autoscaling: an object is expected"),
        ({"nodeLocations": "europe-west4-a"}, "nodeLocations: a list is expected"),
        ({"initialNodeCount": "many"}, "initialNodeCount: a whole number is expected"),
        ({"nodeConfig": {"spot": "perhaps"}}, "nodeConfig.spot: true or false is expected"),
        ({"nodeConfig": {"machineType": {"a": 1}}}, "nodeConfig.machineType: a string is expected"),
    ],
)
def test_a_value_of_the_wrong_shape_is_refused(google: Standin, inputs: dict[str, object], complaint: str):
    with pytest.raises(Exception, match=complaint):
        google.check(POOL, {"cluster": "gke", **inputs})


def test_an_unknown_value_passes_wherever_a_value_is_expected(google: Standin):
    google.check(
        POOL, {"cluster": UNKNOWN, "nodeConfig": UNKNOWN, "nodeLocations": [UNKNOWN], "initialNodeCount": UNKNOWN}
    )


def test_a_type_without_rules_is_refused_with_the_way_to_add_it(google: Standin):
    with pytest.raises(Exception, match=r"does not know gcp:sql/database:Database.*providers\.google\.generate"):
        google.check("gcp:sql/database:Database", {})


def test_a_function_without_an_answer_is_refused(google: Standin):
    from localcloud.providers.protocol.protos import provider_pb2

    with pytest.raises(Exception, match="no function gcp:compute/getZones:getZones"):
        google.stub.Invoke(provider_pb2.InvokeRequest(tok="gcp:compute/getZones:getZones"))


def test_a_name_that_google_would_refuse_is_refused(google: Standin):
    with pytest.raises(Exception, match="doesn't match regexp"):
        google.check(NETWORK, {"name": "My_Network"})


def test_a_project_must_come_from_somewhere(google: Standin):
    google.configure(region="europe-west4")
    with pytest.raises(Exception, match="project: required field is not set"):
        google.check(NETWORK, {"name": "vpc"})


def test_a_made_up_name_stays_the_same_and_is_marked(google: Standin):
    first = google.check(NETWORK, {}, name="vpc")
    assert first.values["name"] == google.check(NETWORK, {}, name="vpc", old=first.values).values["name"]
    assert str(first.values["name"]).startswith("vpc-")
    assert "name" in first.values["__defaults"]


@pytest.mark.parametrize(
    ("kind", "inputs", "complaint"),
    [
        (POOL, {"nodeConfig": {"diskSizeGb": 5}}, r"nodeConfig\.diskSizeGb to be at least \(10\), got 5"),
        (POOL, {"nodeConfig": {"sandboxConfig": {"type": "X"}}}, r"nodeConfig\.sandboxConfig\.type .* GVISOR, got X"),
        (
            POOL,
            {"nodeConfig": {"taints": [{"key": "a", "value": "", "effect": "NO"}]}},
            r"taints\[0\]\.effect .*got NO",
        ),
        (NETWORK, {"routingMode": "ZONAL"}, "routingMode to be one of REGIONAL, GLOBAL, got ZONAL"),
        (FIREWALL, {"priority": 70000}, r"priority to be in the range \(0 - 65535\), got 70000"),
        (
            SUBNETWORK,
            {"secondaryIpRanges": [{"rangeName": "No", "ipCidrRange": "10.1.0.0/16"}]},
            "doesn't match regexp",
        ),
    ],
)
def test_a_value_that_the_published_provider_refuses_is_refused(
    google: Standin, kind: str, inputs: dict[str, object], complaint: str
):
    needed: dict[str, object] = {"cluster": "gke"} if kind == POOL else {}
    if kind in (FIREWALL, SUBNETWORK):
        needed = {"network": "vpc", **({"ipCidrRange": "10.0.0.0/20"} if kind == SUBNETWORK else {})}
    with pytest.raises(Exception, match=complaint):
        google.check(kind, needed | inputs)


def test_defaults_of_the_schema_are_given_and_marked(google: Standin):
    given = google.check(NETWORK, {"name": "vpc"}).values
    assert given["networkFirewallPolicyEnforcementOrder"] == "AFTER_CLASSIC_FIREWALL"
    assert sorted(given["__defaults"]) == ["autoCreateSubnetworks", "networkFirewallPolicyEnforcementOrder"]


def test_the_facts_are_of_the_pinned_provider_and_sdk() -> None:
    source = schema.source()
    assert source["module"] == f"{generate_traits.MODULE} {versions.program(generate_traits.MODULE)}"
    assert source["sdk"] == f"pulumi-gcp {versions.program('pulumi-resource-gcp')}"


def test_labels_that_the_provider_computes_are_secret_as_with_the_published_one(google: Standin, network: object):
    address = google.create("gcp:compute/address:Address", {"name": "ip", "labels": {"a": "b"}})
    assert {("effectiveLabels",), ("pulumiLabels",)} <= address.secrets
