"""Node pools as nodes: labels, scaling with pending pods, slices as a whole, and drained when they go."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from llmd_gke.catalog import compute_class
from localcloud.gke_gateway.crds import gke
from localcloud.google_api.core.cloud import API_FILE
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.objects import condition
from localcloud.tests.real_kubernetes.small_cluster import (
    SYSTEM,
    ZONE,
    between,
    cluster,
    listed,
    pod,
    pool,
    ready_nodes,
    set_pools,
)

V6E = pool("v6e", "ct6e-standard-4t", **between(0, 2))
SLICE = pool(
    "slice", "ct6e-standard-4t", placementPolicy={"type": "COMPACT", "tpuTopology": "4x4"}, **between(0, 4)
)  # fmt: skip
IDLE_SECONDS = "3"


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory, control_plane: None) -> Iterator[Laptop]:
    folder = tmp_path_factory.mktemp("nodes")
    variables = {"LLMD_GKE_SCALE_DOWN_SECONDS": IDLE_SECONDS, "LLMD_GKE_NODE_START_SECONDS": "0"}
    with cluster(folder, **variables) as made:
        until(lambda: made.get("serviceaccount", "default"), "the namespace's service account", 30)
        yield made


@pytest.fixture(autouse=True)
def _alone(laptop: Laptop) -> Iterator[None]:
    yield
    laptop.kubectl("delete", "deployments,pods", "--all", "--wait=false", check=False)
    set_pools(laptop, SYSTEM)
    until(lambda: len(listed(laptop, "nodes")) == 1, "only the system node is left", 90)


def wants(name: str, pool_name: str, topology: str) -> dict[str, Any]:
    """A pod for a whole TPU host, with what GKE asks of it."""
    selector = {
        "cloud.google.com/gke-nodepool": pool_name,
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": topology,
    }
    chips = {"resources": {"limits": {"google.com/tpu": "4"}}, "command": ["sleep", "600"], "image": "busybox"}
    toleration = {"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}
    return pod(name, chips, nodeSelector=selector, tolerations=[toleration], terminationGracePeriodSeconds=0)


CLASS = "v6e-capacity"


def class_pool(name: str, *, spot: bool = False) -> dict[str, Any]:
    """A pool of single hosts that belongs to the ComputeClass."""
    taint = {"key": compute_class.LABEL, "value": CLASS, "effect": compute_class.NODE_POOL_TAINT_EFFECT}
    config = {
        "machineType": "ct6e-standard-4t",
        "spot": spot,
        "labels": {compute_class.LABEL: CLASS},
        "taints": [taint],
    }
    return pool(name, "ct6e-standard-4t", nodeConfig=config, **between(0, 2))


def selecting_class() -> dict[str, Any]:
    """The spec of a pod for a whole TPU host of any pool of the ComputeClass."""
    spec = wants("moves", "", "2x2")["spec"]
    del spec["nodeSelector"]["cloud.google.com/gke-nodepool"]
    spec["nodeSelector"][compute_class.LABEL] = CLASS
    spec["tolerations"].append({"key": compute_class.LABEL, "operator": "Exists"})
    return spec


def running(laptop: Laptop, name: str) -> str:
    """The node that a pod runs on, empty until it does."""
    result = laptop.get("pod", name) or {}
    return result["spec"]["nodeName"] if condition(result, "Ready") == "True" else ""


def events(laptop: Laptop, name: str, reason: str) -> list[str]:
    events = listed(laptop, "events", "--field-selector", f"involvedObject.name={name},reason={reason}")
    return [event["message"] for event in events]


def test_a_pending_pod_gets_a_node_and_the_idle_node_goes(laptop: Laptop) -> None:
    set_pools(laptop, SYSTEM, V6E)
    laptop.apply(wants("one", "v6e", "2x2"))
    node = until(lambda: running(laptop, "one"), "the pod runs", 60)
    assert ready_nodes(laptop, "v6e") == [node]
    assert events(laptop, "one", "TriggeredScaleUp") == ["pod triggered scale-up: [{v6e 0->1 (max: 2)}]"]
    laptop.kubectl("delete", "pod", "one")
    until(lambda: laptop.get("node", node) is None, "the idle node goes", 60)
    assert len(ready_nodes(laptop, "system")) == 1, "the system pool's minimum stays"


def test_a_pod_beyond_the_pools_maximum_stays_pending_and_is_told(laptop: Laptop) -> None:
    set_pools(laptop, SYSTEM, V6E)
    for name in ("a", "b", "c"):
        laptop.apply(wants(name, "v6e", "2x2"))
    until(lambda: len(ready_nodes(laptop, "v6e")) == 2, "both nodes", 60)
    events_ = until(
        lambda: [text for name in "abc" for text in events(laptop, name, "NotTriggerScaleUp")], "a refusal", 60
    )
    assert "pod didn't trigger scale-up: 1 max node group size reached" in events_[0]
    assert len(ready_nodes(laptop, "v6e")) == 2
    until(lambda: len([name for name in "abc" if running(laptop, name)]) == 2, "two of them run", 60)


def test_a_pod_in_a_zone_without_stock_stays_pending_until_there_is_some(laptop: Laptop) -> None:
    with faulty(laptop, fault="stockout", zone=ZONE):
        set_pools(laptop, SYSTEM, V6E)
        laptop.apply(wants("one", "v6e", "2x2"))
        (event, *_) = until(lambda: events(laptop, "one", "FailedScaleUp"), "a failed scale-up", 60)
        assert event.startswith(f"Node scale up in zones {ZONE} associated with this pod failed: GCE out of resources.")
        until(lambda: events(laptop, "one", "NotTriggerScaleUp"), "the pool's backoff", 60)
        assert ready_nodes(laptop, "v6e") == []
    until(lambda: running(laptop, "one"), "the pod runs", 90)


@contextlib.contextmanager
def faulty(laptop: Laptop, **fault: object) -> Generator[None]:
    """Google's emulator has a fault meanwhile."""
    file = laptop.workdir.cloud / API_FILE
    file.write_text(json.dumps({"faults": [fault]}))
    try:
        yield
    finally:
        file.unlink()


def prefer(laptop: Laptop, *pools: str) -> None:
    """Makes the ComputeClass, with these node pools in order, and a return to the earlier one."""
    laptop.apply(gke.definition(compute_class.KIND))
    definition = f"crd/{compute_class.PLURAL}.{compute_class.GROUP}"
    laptop.kubectl("wait", "--for=condition=Established", definition, "--timeout=60s")
    spec = {
        "priorities": [{"nodepools": [name]} for name in pools],
        "activeMigration": {"optimizeRulePriority": True},
    }
    laptop.apply(
        {"apiVersion": compute_class.VERSION, "kind": compute_class.KIND, "metadata": {"name": CLASS}, "spec": spec}
    )


def test_pods_go_down_the_list_of_a_compute_class_and_back(laptop: Laptop) -> None:
    prefer(laptop, "regular", "backup")
    with faulty(laptop, fault="stockout", capacity="on-demand"):
        set_pools(laptop, SYSTEM, class_pool("regular"), class_pool("backup", spot=True))
        laptop.apply(_moving(selecting_class()))
        until(lambda: _runs_on(laptop, "backup"), "the pod runs on the second priority", 90)
        assert ready_nodes(laptop, "regular") == []
    until(lambda: _runs_on(laptop, "regular"), "the pod runs on the first priority", 90)
    until(lambda: not listed(laptop, "nodes", "-l", "cloud.google.com/gke-nodepool=backup"), "the other node goes", 60)
    assert len(ready_nodes(laptop, "regular")) == 1


def test_a_multi_host_slice_comes_and_goes_as_a_whole(laptop: Laptop) -> None:
    set_pools(laptop, SYSTEM, SLICE)
    laptop.apply(wants("worker", "slice", "4x4"))
    node = until(lambda: running(laptop, "worker"), "the pod runs", 60)
    hosts = until(lambda: (result := ready_nodes(laptop, "slice")) and len(result) == 4 and result, "four hosts", 30)
    assert node in hosts
    # Three of them are idle, for longer than the autoscaler waits; a slice that is used is left alone.
    until(lambda: _idle_for(laptop, hosts, 2 * float(IDLE_SECONDS)), "time goes by", 30)
    assert sorted(ready_nodes(laptop, "slice")) == sorted(hosts)
    laptop.kubectl("delete", "pod", "worker")
    until(lambda: not listed(laptop, "nodes", "-l", "cloud.google.com/gke-nodepool=slice"), "all four go", 60)


def _idle_for(laptop: Laptop, hosts: list[str], seconds: float) -> bool:
    """Whether the cluster's own clock has moved on by so much since the hosts were made."""
    leases = [laptop.get("lease", "-n", "kube-node-lease", host) for host in hosts]
    made = laptop.python(
        "import datetime, sys\n"
        "made = datetime.datetime.fromisoformat(sys.argv[1].replace('Z', '+00:00'))\n"
        "print((datetime.datetime.now(datetime.timezone.utc) - made).total_seconds())",
        max(lease["metadata"]["creationTimestamp"] for lease in leases),
    )
    return float(made.stdout) > seconds


def test_a_pool_that_is_removed_is_drained_first(laptop: Laptop) -> None:
    fixed = pool("fixed", "e2-standard-4", nodeCount=1)
    set_pools(laptop, SYSTEM, fixed)
    node = until(lambda: ready_nodes(laptop, "fixed"), "its node", 60)[0]
    script = "trap 'exit 0' TERM; while true; do sleep 0.1; done"
    template = pod("moves", {"command": ["sh", "-c", script], "image": "busybox"})
    preferred = {
        "weight": 100,
        "preference": {
            "matchExpressions": [{"key": "cloud.google.com/gke-nodepool", "operator": "In", "values": ["fixed"]}]
        },
    }
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}
    template["spec"]["affinity"] = affinity
    laptop.apply(_moving(template["spec"]))
    until(lambda: [one for one in _pods(laptop) if one["spec"].get("nodeName") == node and _ready(one)], "it runs", 60)
    set_pools(laptop, SYSTEM)
    until(lambda: laptop.get("node", node) is None, "the node goes", 60)
    system = ready_nodes(laptop, "system")
    moved = until(
        lambda: [one for one in _pods(laptop) if one["spec"].get("nodeName") in system and _ready(one)], "it moved", 60
    )
    assert len(moved) == 1


def _moving(spec: dict[str, Any]) -> dict[str, Any]:
    """A Deployment of one pod."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "moves", "namespace": "default"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "moves"}},
            "template": {"metadata": {"labels": {"app": "moves"}}, "spec": spec},
        },
    }


def _runs_on(laptop: Laptop, pool_name: str) -> bool:
    """Whether a pod of that Deployment is ready on a node of the pool."""
    nodes = ready_nodes(laptop, pool_name)
    return any(_ready(one) and one["spec"].get("nodeName") in nodes for one in _pods(laptop))


def _pods(laptop: Laptop) -> list[dict[str, Any]]:
    return listed(laptop, "pods", "-l", "app=moves")


def _ready(obj: dict[str, Any]) -> bool:
    return condition(obj, "Ready") == "True"


def test_a_changed_size_is_followed_and_another_machine_type_replaces_the_nodes(laptop: Laptop) -> None:
    set_pools(laptop, SYSTEM, pool("fixed", "e2-standard-4", nodeCount=1))
    first = until(lambda: ready_nodes(laptop, "fixed"), "one node", 60)
    set_pools(laptop, SYSTEM, pool("fixed", "e2-standard-4", nodeCount=2))
    until(lambda: len(ready_nodes(laptop, "fixed")) == 2, "two nodes", 60)
    assert first[0] in ready_nodes(laptop, "fixed")
    set_pools(laptop, SYSTEM, pool("fixed", "e2-standard-8", nodeCount=1))

    def replaced() -> bool:
        nodes = listed(laptop, "nodes", "-l", "cloud.google.com/gke-nodepool=fixed")
        types = {one["metadata"]["labels"]["node.kubernetes.io/instance-type"] for one in nodes}
        return len(nodes) == 1 and types == {"e2-standard-8"}

    until(replaced, "one node of the other type", 60)
    assert ready_nodes(laptop, "fixed") != first


def test_nodes_stay_ready_and_keep_their_names_when_the_kubelet_is_restarted(laptop: Laptop) -> None:
    before = ready_nodes(laptop, "system")
    renewed = laptop.get("lease", "-n", "kube-node-lease", before[0])["spec"]["renewTime"]
    kubelet = laptop.outer("kubelet")
    assert kubelet is not None
    kubelet.terminate()
    until(
        lambda: (
            laptop.get("lease", "-n", "kube-node-lease", before[0])["spec"]["renewTime"] > renewed
            and laptop.process("kubelet").restarts > 0
        ),
        "the lease is renewed by the next kubelet",
        60,
    )
    assert ready_nodes(laptop, "system") == before
