"""Plans that the real provider makes (hashicorp/terraform-provider-google 7.39 through Pulumi's bridge)."""

from __future__ import annotations

from typing import Any

import pytest

from localcloud.providers.google import schema
from localcloud.providers.google.registry import KINDS
from localcloud.providers.protocol.traits import same_link
from localcloud.tests.providers.conftest import Result, Standin

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"
NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
MEMBER = "gcp:projects/iAMMember:IAMMember"
ACCOUNT = "gcp:serviceaccount/account:Account"
BUCKET = "gcp:storage/bucket:Bucket"
Props = dict[str, Any]

BEFORE: Props = {
    "name": "tpu",
    "cluster": "gke",
    "location": "europe-west4",
    "nodeLocations": ["europe-west4-a", "europe-west4-b"],
    "nodeCount": 1,
    "maxPodsPerNode": 64,
    "management": {"autoRepair": True, "autoUpgrade": False},
    "nodeConfig": {
        "machineType": "ct6e-standard-4t",
        "diskType": "hyperdisk-balanced",
        "spot": False,
        "oauthScopes": ["https://www.googleapis.com/auth/cloud-platform", "https://www.googleapis.com/auth/x"],
        "labels": {"a": "", "b": "c"},
    },
}

SECOND_SCOPE = "nodeConfig.oauthScopes[1]"
ONLY_BETA = "nodeConfig.ephemeralStorageConfig"
"""The schema says nothing about it, so it is planned as the worst: a replacement."""


def node(**over: Any) -> Props:
    """The pool with another node configuration; ``None`` takes a key out."""
    changed = {**BEFORE["nodeConfig"], **over}
    return {"nodeConfig": {key: value for key, value in changed.items() if value is not None}}


def planned(google: Standin, kind: str, before: Props, after: Props) -> tuple[list[str], list[str]]:
    """The paths that change and those that replace."""
    old = google.check(kind, before).values
    answer = google.diff(kind, Result("id", old, old, frozenset()), after)
    return sorted(answer.detailedDiff), sorted(answer.replaces)


@pytest.mark.parametrize(
    ("over", "changed", "replaced"),
    [
        ({}, [], []),
        ({"nodeLocations": ["europe-west4-b", "europe-west4-a"]}, [], []),
        (node(oauthScopes=BEFORE["nodeConfig"]["oauthScopes"][::-1]), [], []),
        (node(oauthScopes=BEFORE["nodeConfig"]["oauthScopes"][:1]), [SECOND_SCOPE], [SECOND_SCOPE]),
        (node(ephemeralStorageConfig={"localSsdCount": 1}), [ONLY_BETA], [ONLY_BETA]),
        (node(spot=None), [], []),
        (node(spot=True), ["nodeConfig.spot"], ["nodeConfig.spot"]),
        ({"maxPodsPerNode": None}, [], []),
        ({"maxPodsPerNode": 32}, ["maxPodsPerNode"], ["maxPodsPerNode"]),
        ({"nodeConfig": None}, [], []),
        ({"management": {"autoUpgrade": False}}, [], []),
        ({"management": {"autoRepair": True}}, ["management.autoUpgrade"], []),
        (node(labels={"b": "c"}), ["nodeConfig.labels.a"], []),
        (node(labels={"a": "", "b": "d"}), ["nodeConfig.labels.b"], []),
        (node(sandboxConfig={"type": "GVISOR"}), ["nodeConfig.sandboxConfig"], ["nodeConfig.sandboxConfig"]),
        ({"nodeLocations": ["europe-west4-c", "europe-west4-a"]}, ["nodeLocations[1]"], []),
    ],
)
def test_a_pool_changes_as_with_the_real_provider(
    google: Standin, over: Props, changed: list[str], replaced: list[str]
) -> None:
    after = {key: value for key, value in {**BEFORE, **over}.items() if value is not None}
    assert planned(google, POOL, BEFORE, after) == (changed, replaced)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("vpc", "projects/rehearsal/global/networks/vpc", []),
        (
            "projects/rehearsal/global/networks/vpc",
            "https://www.googleapis.com/compute/v1/projects/rehearsal/global/networks/vpc",
            [],
        ),
        ("projects/rehearsal/global/networks/vpc", "projects/other/global/networks/vpc", ["network"]),
        ("vpc", "other", ["network"]),
    ],
)
def test_a_network_is_compared_by_what_the_reference_means(
    google: Standin, before: str, after: str, changed: list[str]
) -> None:
    cluster = {"name": "gke", "location": "europe-west4", "initialNodeCount": 1}
    plan = planned(google, CLUSTER, {**cluster, "network": before}, {**cluster, "network": after})
    assert plan == (changed, changed)


@pytest.mark.parametrize(
    ("kind", "before", "over", "changed"),
    [
        (SUBNETWORK, {"name": "n", "network": "vpc", "region": "us-east5"}, {"region": "regions/us-east5"}, ["region"]),
        (MEMBER, {"project": "p", "role": "roles/viewer", "member": "user:a@b.c"}, {"member": "user:A@B.c"}, []),
        (BUCKET, {"name": "weights", "location": "US-EAST5"}, {"location": "us-east5"}, []),
    ],
)
def test_a_value_is_compared_as_upstream_keeps_it(
    google: Standin, kind: str, before: Props, over: Props, changed: list[str]
) -> None:
    assert planned(google, kind, before, {**before, **over}) == (changed, changed)


def test_a_project_member_is_deleted_before_it_is_made_again(google: Standin) -> None:
    member: Props = {"project": "rehearsal", "role": "roles/viewer", "member": "user:a@example.com"}
    made = google.create(MEMBER, member)
    assert google.diff(MEMBER, made, {**member, "role": "roles/editor"}).deleteBeforeReplace


def test_an_account_without_an_id_gets_one_of_at_most_30_characters(google: Standin) -> None:
    made_up = google.check(ACCOUNT, {}, name="a-rather-long-name-of-an-account").values
    assert len(made_up["accountId"]) == 30
    assert made_up["__defaults"] == ["accountId"]


def test_a_link_to_nothing_is_no_link() -> None:
    assert not same_link(None, "vpc")


def test_a_given_name_is_deleted_first_also_when_it_changes(google: Standin, network: Result) -> None:
    assert google.diff(NETWORK, network, {"name": "other", "autoCreateSubnetworks": False}).deleteBeforeReplace
    made_up = google.create(NETWORK, {"autoCreateSubnetworks": False})
    assert not google.diff(NETWORK, made_up, {"autoCreateSubnetworks": True}).deleteBeforeReplace


def test_a_renamed_resource_policy_is_planned_as_an_update_that_google_refuses(google: Standin) -> None:
    inputs: Props = {
        "name": "wp-2x2x2",
        "region": "europe-west4",
        "workloadPolicy": {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x2x2"},
    }
    made = google.create(POLICY, inputs)
    renamed = {**inputs, "name": "wp-new"}
    answer = google.diff(POLICY, made, renamed)
    assert (list(answer.diffs), list(answer.replaces)) == (["name"], [])
    with pytest.raises(Exception, match=r"Error 404: The resource '.*/resourcePolicies/wp-new' was not found"):
        google.update(POLICY, made, renamed)


@pytest.mark.parametrize("cidr", ["10.0.0.0/32", "10.0.0.0/31", "10.0.0.0/30"])
def test_a_subnet_without_room_is_refused_by_google(google: Standin, network: Result, cidr: str) -> None:
    with pytest.raises(Exception, match=f"Error 400: Invalid value for field 'resource.ipCidrRange': '{cidr}'"):
        google.create(SUBNETWORK, {"name": "nodes", "network": "vpc", "ipCidrRange": cidr})


def test_the_traits_are_of_types_and_properties_that_exist() -> None:
    """Beta-only properties are missing from them, others may not be."""
    for kind in KINDS:
        traits = schema.traits(kind)
        paths = [*traits.sets, *traits.links, *traits.defaults]
        typed = [path for path in paths if schema.type_of(kind, path)]
        assert sorted(typed) == sorted(paths), kind
    assert schema.traits(POOL).sets
