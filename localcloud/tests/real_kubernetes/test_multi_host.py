"""A model across the hosts of one slice: KServe, LeaderWorkerSet, scheduler and autoscaler bring the group together."""

from __future__ import annotations

import json
from typing import Any

from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.policies import NAMESPACE, matching, peers, policy
from localcloud.tests.real_kubernetes.serving import ask, chat

POOL = {
    "name": "v6e16",
    "machineType": "ct6e-standard-4t",
    "topology": "4x4",
    "minNodes": 0,
    "maxNodes": 4,
    "diskGb": 200,
}
MODEL = {"name": "big", "uri": "hf://Qwen/Qwen3-32B", "pool": "v6e16", "experimentalMultiHost": True}
SETS = "leaderworkersets.leaderworkerset.x-k8s.io"
GROUP = "leaderworkerset.sigs.k8s.io/name"


def add(config: dict[str, Any]) -> None:
    config["llmd-gke:pools"].append(dict(POOL))
    config["llmd-gke:models"].append(dict(MODEL))


def group(laptop: Laptop) -> list[objects.Object]:
    """The pods of the model's LeaderWorkerSet, the leader first."""
    (owner,) = objects.every(laptop, SETS, namespace=objects.MODELS)
    pods = objects.every(laptop, "pods", "-l", f"{GROUP}={objects.name(owner)}", namespace=objects.MODELS)
    return sorted(pods, key=objects.name)


def check_policies(laptop: Laptop, pods: list[objects.Object]) -> None:
    """Whom the model's own NetworkPolicies mean: all of the group, the leader, the picker, and nobody else."""
    whole, leader = objects.names(pods), {objects.name(pods[0])}
    deployment = models.service(laptop, "big")["status"]["workloads"]["scheduler"]["name"]
    pickers = objects.names(objects.pods_of(laptop, deployment, NAMESPACE))
    assert pickers, "the picker has no pod: nothing would be shown"
    group_, workload, picker = (policy(laptop, f"big-{name}") for name in ("group", "workload", "picker"))
    assert matching(laptop, NAMESPACE, group_["podSelector"]) == whole
    assert [matching(laptop, NAMESPACE, one) for one in peers(group_["ingress"], "from")] == [whole]
    assert [matching(laptop, NAMESPACE, one) for one in peers(group_["egress"], "to")] == [whole]
    assert [rule.get("ports") for rule in group_["ingress"]] == [None], "every port is open within the group"
    assert matching(laptop, NAMESPACE, workload["podSelector"]) == leader, "requests go to the leader alone"
    assert matching(laptop, NAMESPACE, picker["podSelector"]) == pickers
    assert [matching(laptop, NAMESPACE, one) for one in peers(picker["egress"], "to")] == [leader]


def test_a_model_on_four_hosts_of_a_slice_becomes_ready_and_answers(laptop: Laptop) -> None:
    with models.changed(laptop):
        laptop.edit("local", add)
        laptop.up()
        until(lambda: objects.condition(models.service(laptop, "big"), "Ready") == "True", "the service on four hosts")
        pods = group(laptop)
        assert [objects.is_ready(pod) for pod in pods] == [True] * 4
        nodes = {objects.name(node): node["metadata"]["labels"] for node in objects.every(laptop, "nodes")}
        hosts = [nodes[pod["spec"]["nodeName"]] for pod in pods]
        assert len({pod["spec"]["nodeName"] for pod in pods}) == 4
        assert {host["cloud.google.com/gke-tpu-topology"] for host in hosts} == {"4x4"}
        environments = [objects.variables(pod) for pod in pods]
        assert sorted(one["TPU_WORKER_ID"] for one in environments) == ["0", "1", "2", "3"]
        assert {len(one["TPU_WORKER_HOSTNAMES"].split(",")) for one in environments} == {4}
        outputs = json.loads(laptop.pulumi("stack", "output", "--json", "--stack", "local").stdout)
        (answer,) = ask(laptop, outputs["models"]["big"]["url"], chat("all of you", model="big"))
        assert answer["status"] == 200, answer
        assert json.loads(answer["text"])["choices"][0]["message"]["content"] == "all of you"
        leader = laptop.kubectl("logs", "-n", objects.MODELS, objects.name(pods[0]), "-c", "main")
        assert "hosts in the group: 4 of 4; starting the server" in leader
        check_policies(laptop, pods)
    until(lambda: not objects.every(laptop, SETS, namespace=objects.MODELS), "the group to go")
