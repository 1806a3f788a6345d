"""Capacity for node pools: stock-outs, quotas, reservations, spot and flex-start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from localcloud.tests.providers.gke_inputs import CLUSTER, POOL, Props, node, pool

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Result, Standin


def test_a_stock_out_fails_a_pool_that_starts_with_nodes_and_keeps_it(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    wanted = pool(initialNodeCount=1)
    with pytest.raises(Exception, match=r"created in the error state .*\[GCE_STOCKOUT\].*europe-west4-a"):
        google.create(POOL, wanted)
    kept = google.read(POOL, f"{cluster.id}/nodePools/tpu")
    assert kept is not None, "GKE keeps the pool and goes on trying"


def test_a_pool_recovers_when_capacity_is_back(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    with pytest.raises(Exception, match="GCE_STOCKOUT"):
        google.create(POOL, pool(initialNodeCount=1))
    current = google.read(POOL, f"{cluster.id}/nodePools/tpu")
    assert current is not None
    google.faults(enabledApis=["*"])
    from localcloud.providers.protocol.protos import provider_pb2
    from localcloud.providers.protocol.values import encode

    bag = encode(current[0].values)
    google.stub.Update(
        provider_pb2.UpdateRequest(
            id=f"{cluster.id}/nodePools/tpu",
            urn=f"urn:pulumi:t::p::{POOL}::it",
            type=POOL,
            name="it",
            old_inputs=bag,
            news=bag,
        )
    )


def test_a_stock_out_lets_a_pool_without_nodes_pass(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    assert google.create(POOL, pool()).id


def test_a_stock_out_leaves_other_machines_alone(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    assert google.create(POOL, pool(machine="e2-standard-4", disk=None, initialNodeCount=1)).id


def test_quota_of_the_family_is_drawn_by_nodes(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], quota={"CT6E": 4})
    google.create(POOL, pool(name="empty", initialNodeCount=0))
    google.create(POOL, pool(name="one", initialNodeCount=1))
    with pytest.raises(Exception, match=r"Quota 'TPUS_PER_TPU_FAMILY' exceeded\. Limit: 4\.0 in region europe-west4"):
        google.create(POOL, pool(name="two", initialNodeCount=1))


def test_spot_has_a_quota_of_its_own(google: Standin, cluster: Result):
    google.faults(enabledApis=["*"], quota={"CT6E": 0, "PREEMPTIBLE_TPU_V6E": 8})
    spot = {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced", "spot": True}
    google.create(POOL, pool(initialNodeCount=2, nodeConfig=spot))
    with pytest.raises(Exception, match=r"Quota 'PREEMPTIBLE_TPU_V6E' exceeded\. Limit: 8\.0"):
        google.create(POOL, pool(name="more", initialNodeCount=1, nodeConfig=spot))


RESERVED = {
    "consumeReservationType": "SPECIFIC_RESERVATION",
    "key": "compute.googleapis.com/reservation-name",
    "values": ["mine"],
}
LONG = "604801s"


def test_a_reservation_is_consumed_by_its_name(google: Standin, cluster: Result):
    assert google.create(POOL, pool(nodeConfig=node(reservationAffinity=RESERVED))).id


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        (pool(nodeConfig=node(spot=True, flexStart=True)), "Spot and flex-start cannot be used together"),
        (pool(nodeConfig=node(spot=True, reservationAffinity=RESERVED)), "spot node pool cannot consume a reservation"),
        (
            pool(nodeConfig=node(reservationAffinity={"consumeReservationType": "SPECIFIC_RESERVATION"})),
            "needs the key compute.googleapis.com/reservation-name",
        ),
        (pool(nodeConfig=node(flexStart=True)), 'Flex-start is not available for TPU v6e in zone "europe-west4-a"'),
        (pool(nodeConfig=node(maxRunDuration=LONG)), 'Max run duration "604801s" is more than 604800s'),
    ],
)
def test_capacity_that_google_does_not_give_is_refused(google: Standin, cluster: Result, inputs: Props, complaint: str):
    with pytest.raises(Exception, match=complaint):
        google.create(POOL, inputs)


@pytest.fixture
def tokyo(google: Standin, network: Result) -> Result:
    """A cluster in a region with flex-start."""
    region = "asia-northeast1"
    subnet = {"name": "tokyo", "network": "vpc", "region": region, "ipCidrRange": "10.200.0.0/20"}
    google.create("gcp:compute/subnetwork:Subnetwork", subnet)
    wanted = {"name": "gke", "location": region, "network": "vpc", "subnetwork": "tokyo", "initialNodeCount": 1}
    return google.create(CLUSTER, wanted)


def flex(**over: Any) -> Props:
    location: Props = {"location": "asia-northeast1", "nodeLocations": ["asia-northeast1-b"]}
    config = node(flexStart=True, maxRunDuration="604800s")
    return pool(nodeConfig=config, management={"autoRepair": False}, **location) | over


def test_flex_start_draws_on_the_preemptible_quota(google: Standin, tokyo: Result):
    google.create(POOL, flex())
    google.faults(enabledApis=["*"], quota={"PREEMPTIBLE_TPU_V6E": 0})
    with pytest.raises(Exception, match=r"Quota 'PREEMPTIBLE_TPU_V6E' exceeded"):
        google.create(POOL, flex(name="more", initialNodeCount=1))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [({"management": {}}, "Auto repair must be off"), ({"autoscaling": None, "initialNodeCount": 0}, "autoscaling")],
)
def test_flex_start_without_what_it_needs_is_refused(google: Standin, tokyo: Result, change: Props, complaint: str):
    wanted = {key: value for key, value in (flex() | change).items() if value is not None}
    with pytest.raises(Exception, match=complaint):
        google.create(POOL, wanted)
