"""Node pools of Google's file as the laptop cloud's nodes need them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from localcloud.providers.google import pools_view
from localcloud.providers.google.pools_view import RunningPool

if TYPE_CHECKING:
    from localcloud.tests.providers.conftest import Result, Standin

POOL = "gcp:container/nodePool:NodePool"
Props = dict[str, Any]
TPU: Props = {
    "name": "v6e4",
    "cluster": "gke",
    "location": "europe-west4",
    "nodeLocations": ["europe-west4-a"],
    "initialNodeCount": 0,
    "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4},
    "nodeConfig": {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced"},
}
SLICE = TPU | {"placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"}}
SYSTEM: Props = {
    "name": "system",
    "cluster": "gke",
    "location": "europe-west4",
    "nodeLocations": ["europe-west4-a"],
    "initialNodeCount": 1,
    "autoscaling": {"minNodeCount": 1, "maxNodeCount": 3},
    "nodeConfig": {
        "machineType": "e2-standard-4",
        "labels": {"team": "llm"},
        "taints": [{"key": "only", "value": "system", "effect": "NO_EXECUTE"}],
        "workloadMetadataConfig": {"mode": "GKE_METADATA"},
    },
}


def seen(google: Standin) -> list[RunningPool]:
    return pools_view.pools(json.loads((google.folder / "google.json").read_text()))


def view(google: Standin, inputs: Props) -> RunningPool:
    google.create(POOL, inputs)
    (result,) = seen(google)
    return result


def test_a_single_host_tpu_pool_has_gkes_labels_taint_and_chips(google: Standin, cluster: Result) -> None:
    pool = view(google, TPU)
    assert pool.labels == {
        "cloud.google.com/gke-nodepool": "v6e4",
        "node.kubernetes.io/instance-type": "ct6e-standard-4t",
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "2x2",
        "cloud.google.com/gke-accelerator-count": "4",
    }
    assert pool.taints == (("google.com/tpu", "present", "NoSchedule"),)
    assert (pool.chips, pool.hosts, pool.vcpus, pool.memory_gb) == (4, 1, 180, 720)
    assert (pool.minimum, pool.maximum, pool.autoscaled) == (0, 4, True)


def test_the_hosts_of_a_slice_carry_its_topology_and_know_their_number(google: Standin, cluster: Result) -> None:
    pool = view(google, SLICE)
    assert (pool.labels["cloud.google.com/gke-tpu-topology"], pool.hosts) == ("4x4", 4)


def test_a_system_pool_has_its_own_labels_and_taints_and_no_chips(google: Standin, cluster: Result) -> None:
    pool = view(google, SYSTEM)
    assert (pool.labels["team"], pool.labels["iam.gke.io/gke-metadata-server-enabled"]) == ("llm", "true")
    assert pool.taints == (("only", "system", "NoExecute"),)
    assert (pool.chips, pool.vcpus, pool.memory_gb, pool.minimum, pool.initial) == (0, 4, 16, 1, 1)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"nodeCount": 4, "initialNodeCount": None, "autoscaling": None}, (4, 4, 4)),
        ({"autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4}}, (0, 4, 0)),
        ({"initialNodeCount": 2}, (0, 4, 2)),
    ],
)
def test_how_many_nodes_a_pool_may_have(
    google: Standin, cluster: Result, change: Props, expected: tuple[int, int, int]
) -> None:
    pool = view(google, {key: value for key, value in (TPU | change).items() if value is not None})
    assert (pool.minimum, pool.maximum, pool.initial) == expected


def test_spot_and_reservation_are_labels(google: Standin, cluster: Result) -> None:
    spot = view(google, TPU | {"nodeConfig": TPU["nodeConfig"] | {"spot": True}})
    assert spot.labels["cloud.google.com/gke-spot"] == "true"


def test_a_pool_without_capacity_says_why(google: Standin, cluster: Result) -> None:
    google.faults(enabledApis=["*"], stockout=["europe-west4-a"])
    with pytest.raises(Exception, match="GCE_STOCKOUT"):
        google.create(POOL, TPU | {"initialNodeCount": 1})
    (pool,) = seen(google)
    assert "GCE_STOCKOUT" in pool.failed


def test_a_change_of_size_is_seen(google: Standin, cluster: Result) -> None:
    made = google.create(POOL, TPU)
    google.update(POOL, made, TPU | {"autoscaling": {"minNodeCount": 1, "maxNodeCount": 8}})
    (pool,) = seen(google)
    assert (pool.minimum, pool.maximum) == (1, 8)


def test_a_deleted_pool_and_a_pool_of_a_deleted_cluster_are_gone(google: Standin, cluster: Result) -> None:
    google.delete(POOL, google.create(POOL, TPU))
    assert seen(google) == []
    google.create(POOL, TPU)
    google.delete("gcp:container/cluster:Cluster", cluster)
    assert seen(google) == []


def test_reserved_addresses_are_found_by_name(google: Standin) -> None:
    made = google.create("gcp:compute/address:Address", {"name": "gateway"})
    (result,) = pools_view.addresses(json.loads((google.folder / "google.json").read_text()))
    assert (result.name, result.region, result.internal) == ("gateway", "europe-west4", False)
    assert result.address == made.outputs["address"]
