"""Pods that ask for early hosts: once their Job is suspended they are gone, and the host stays for the model's pod.

That only one host starts cannot be seen here: this cloud's autoscaler looks at pods again when the host that it is
starting is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from llmd_gke.manifests import early_hosts, naming
from llmd_gke.manifests.server_pod import node_selector, tolerations
from llmd_gke.settings import ModelSettings, PoolSettings
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.objects import condition
from localcloud.tests.real_kubernetes.small_cluster import (
    SYSTEM,
    between,
    cluster,
    listed,
    pod,
    pool,
    set_pools,
)

POOL = PoolSettings(
    name="v6e4",
    machine_type="ct6e-standard-4t",
    topology="2x2",
    max_nodes=3,
    capacity="flex-start",
    early_hosts=1,
)
MODEL = ModelSettings(name="m", uri="hf://a/b", pool="v6e4", namespace="default")
NODE_POOL = pool("v6e4", "ct6e-standard-4t", **between(0, 3))
JOB = naming.early_hosts("v6e4")
START_SECONDS = 15


@pytest.fixture
def laptop(tmp_path_factory: pytest.TempPathFactory, control_plane: None) -> Iterator[Laptop]:
    """A cluster whose hosts take longer to start than it takes to suspend a Job, and stay when they are idle."""
    variables = {"LLMD_GKE_SCALE_DOWN_SECONDS": "600", "LLMD_GKE_NODE_START_SECONDS": str(START_SECONDS)}
    with cluster(tmp_path_factory.mktemp("early"), **variables) as made:
        until(lambda: made.get("serviceaccount", "default"), "the namespace's service account", 30)
        set_pools(made, SYSTEM, NODE_POOL)
        yield made


def ask(laptop: Laptop) -> str:
    """Creates the Job; the name of its pod, once GKE's autoscaler adds a host for it.

    By a plain create, as Pulumi's provider does from 4.29 on: its manager owns the fields that the API server fills in,
    too.
    """
    job = json.dumps(early_hosts.job(POOL, MODEL))
    laptop.kubectl("create", "--field-manager=pulumi-kubernetes", "--validate=false", "-f", "-", stdin=job)

    def look() -> str:
        pods = listed(laptop, "pods", "-l", f"job-name={JOB}")
        return next((one["metadata"]["name"] for one in pods if triggered(laptop, one["metadata"]["name"])), "")

    return until(look, "a host is on its way", 60)


def triggered(laptop: Laptop, name: str) -> list[str]:
    """What the autoscaler said when it added a host for the pod."""
    chosen = f"involvedObject.name={name},reason=TriggeredScaleUp"
    return [event["message"] for event in listed(laptop, "events", "--field-selector", chosen)]


def suspend(laptop: Laptop) -> None:
    """Applies the program's patch as Pulumi's provider does: by server-side apply, as a manager of its own."""
    patch: dict[str, Any] = {"apiVersion": "batch/v1", "kind": "Job", **early_hosts.suspended(POOL, "default")}
    forced = patch["metadata"]["annotations"].get("pulumi.com/patchForce") == "true"
    how = ("--server-side", "--field-manager=pulumi-kubernetes-1", "--validate=false", f"--force-conflicts={forced}")
    laptop.kubectl("apply", *how, "-f", "-", stdin=json.dumps(patch))


def serve(laptop: Laptop) -> None:
    """Creates a pod that asks for a host as the model's servers do."""
    main = {"resources": {"limits": {"google.com/tpu": "4"}}, "command": ["sleep", "600"], "image": "busybox"}
    laptop.apply(pod("server", main, nodeSelector=node_selector(POOL), tolerations=tolerations(POOL)))


def hosts(laptop: Laptop) -> list[dict[str, Any]]:
    """The nodes of the pool."""
    return listed(laptop, "nodes", "-l", "cloud.google.com/gke-nodepool=v6e4")


def test_the_host_that_a_suspended_job_asked_for_is_the_servers(laptop: Laptop) -> None:
    asked = ask(laptop)
    assert hosts(laptop) == [], "it takes a while"
    suspend(laptop)
    until(lambda: laptop.get("pod", asked) is None, "the pod that asked is gone", 30)
    serve(laptop)
    until(lambda: condition(laptop.get("pod", "server") or {}, "Ready") == "True", "the server runs", 90)
    (host,) = hosts(laptop)
    assert laptop.get("pod", "server")["spec"]["nodeName"] == host["metadata"]["name"]
    assert condition(laptop.get("job", JOB), "Suspended") == "True"


def test_a_pod_whose_host_is_there_before_the_platform_ends_and_leaves_it_to_the_server(laptop: Laptop) -> None:
    ask(laptop)
    until(lambda: condition(laptop.get("job", JOB), "Complete") == "True", "the pod has ended on its host", 90)
    suspend(laptop)
    serve(laptop)
    until(lambda: condition(laptop.get("pod", "server") or {}, "Ready") == "True", "the server runs", 60)
    assert len(hosts(laptop)) == 1
    assert triggered(laptop, "server") == []
