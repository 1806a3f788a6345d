"""Properties: unknown, missing and misshapen ones are refused, by the SDK's own types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llmd_gke.pulumi_signatures import UNKNOWN
from localcloud.providers.google import generate, schema
from localcloud.providers.google.registry import KINDS

if TYPE_CHECKING:
    from tests.localcloud.providers.conftest import Standin

NETWORK = "gcp:compute/network:Network"
POOL = "gcp:container/nodePool:NodePool"


@pytest.mark.slow
def test_the_table_of_properties_is_what_the_sdk_gives(tmp_path):
    generate.write(tmp_path / "types.json")
    assert (tmp_path / "types.json").read_text() == schema.TABLE.read_text()


def test_every_type_with_rules_is_in_the_table_and_the_other_way_round():
    assert KINDS.keys() == schema.table()["types"].keys()


@pytest.mark.parametrize("token", KINDS)
def test_properties_that_force_a_replacement_exist(token: str):
    table = schema.table()
    kind = KINDS[token]
    for path in (*kind.force_new, *kind.force_new_block, *kind.force_new_if, *kind.defaults):
        shape = table["types"][token]
        for part in path.split("."):
            assert part in table["shapes"][shape], f"{token} has no {path}"
            shape = table["shapes"][shape][part].lstrip("![{@")


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
    with pytest.raises(Exception, match=r"does not know gcp:sql/database:Database.*generate\.py"):
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


def test_minimum_above_maximum_is_refused(google: Standin):
    with pytest.raises(Exception, match="minNodeCount 3 is greater than maxNodeCount 2"):
        google.check(POOL, {"cluster": "gke", "autoscaling": {"minNodeCount": 3, "maxNodeCount": 2}})


def test_a_made_up_name_stays_the_same_and_is_marked(google: Standin):
    first = google.check(NETWORK, {}, name="vpc")
    assert first.values["name"] == google.check(NETWORK, {}, name="vpc", old=first.values).values["name"]
    assert str(first.values["name"]).startswith("vpc-")
    assert "name" in first.values["__defaults"]
