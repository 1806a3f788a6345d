"""Where hosts come from in the whole stack: a reclaimed spot host's replica moves on and back, GPUs answer for TPUs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from llmd_gke.catalog.accelerators import POOL_LABEL
from llmd_gke.manifests import naming
from localcloud.tests.real_kubernetes import models, objects, steady_load
from localcloud.tests.real_kubernetes.harness import Laptop, until

SPOT, REGULAR = "v6e4-spot", "v6e4-on-demand"
REPLICAS = 3
MOVE_SECONDS = 240.0
TPU_ZONE, GPU_ZONE, FALLBACK = "europe-west4-a", "europe-west4-b", "qwen-gpu"


def in_order(config: dict[str, Any]) -> None:
    """One replica on a spot host, the others on hosts that stay."""
    (pool,) = config["llmd-gke:pools"]
    pool["capacity"] = [{"kind": "spot", "maxNodes": 1}, {"kind": "on-demand"}]
    pool["returnToPreferred"] = True


def hosts(laptop: Laptop) -> Counter[str]:
    """Ready servers by the node pool of their host; empty while one is not ready."""
    pods = models.servers(laptop)
    if len(pods) != REPLICAS or not all(objects.is_ready(pod) for pod in pods):
        return Counter()
    nodes = {objects.name(node): node for node in objects.every(laptop, "nodes")}
    under = [nodes[pod["spec"]["nodeName"]] for pod in pods if pod["spec"]["nodeName"] in nodes]
    return Counter(node["metadata"]["labels"]["cloud.google.com/gke-nodepool"] for node in under)


def test_a_replica_on_a_reclaimed_spot_host_moves_to_the_next_capacity_and_back_without_a_failed_request(
    laptop: Laptop, tmp_path: Path
) -> None:
    mixed, moved = Counter({SPOT: 1, REGULAR: REPLICAS - 1}), Counter({REGULAR: REPLICAS})
    with models.changed(laptop):
        laptop.edit("local", in_order)
        laptop.up()
        until(lambda: hosts(laptop) == mixed, "one replica on the spot host", MOVE_SECONDS)
        with steady_load.steady(laptop, tmp_path / "answers.jsonl", *models.endpoint(laptop)) as load:
            load.await_more(20)
            laptop.emulator_faults({"fault": "reclaimed", "resource": f"*/nodePools/{SPOT}"})
            try:
                until(lambda: hosts(laptop) == moved, "all replicas on hosts that stay", MOVE_SECONDS)
                assert not objects.every(laptop, "nodes", "-l", f"cloud.google.com/gke-nodepool={SPOT}")
            finally:
                laptop.emulator_faults()
            until(lambda: hosts(laptop) == mixed, "a replica is back on the spot host", MOVE_SECONDS)
            load.await_more(20)
        assert [one for one in load.answers() if one["status"] != 200] == []


def test_a_job_that_asked_for_a_host_is_suspended_and_later_commands_leave_it_alone(laptop: Laptop) -> None:
    with models.changed(laptop):
        laptop.edit("local", in_order)
        laptop.edit("local", lambda config: config["llmd-gke:pools"][0].update(earlyHosts=1))
        laptop.up()
        job = objects.one(laptop, "jobs", naming.early_hosts("v6e4"), objects.MODELS)
        assert job is not None
        assert objects.condition(job, "Suspended") == "True"
        assert objects.every(laptop, "pods", "-l", f"job-name={objects.name(job)}", namespace=objects.MODELS) == []
        assert len(models.ready_servers(laptop, REPLICAS)) == REPLICAS
        laptop.pulumi("refresh", "--yes", "--expect-no-changes", "--stack", "local")
        laptop.pulumi("up", "--yes", "--expect-no-changes", "--stack", "local")


def with_a_fallback(config: dict[str, Any]) -> None:
    """As in docs/recipes.md: the model once more, on GPUs of another zone, stopped."""
    config["llmd-gke:pools"].append({"name": "l4", "machineType": "g2-standard-8", "zone": GPU_ZONE, "maxNodes": 2})
    fallback = {"name": FALLBACK, "uri": "hf://Qwen/Qwen3-4B", "pool": "l4", "maxModelLen": 4096, "stopped": True}
    config["llmd-gke:models"].append(fallback)


def test_gpus_answer_while_the_tpu_zone_has_no_hosts(laptop: Laptop, tmp_path: Path) -> None:
    with models.changed(laptop):
        laptop.edit("local", with_a_fallback)
        laptop.up()
        laptop.emulator_faults({"fault": "stockout", "zone": TPU_ZONE})
        try:
            for node in objects.every(laptop, "nodes", "-l", f"{POOL_LABEL}=v6e4"):
                laptop.kubectl("delete", "node", objects.name(node), "--wait=false")
            until(lambda: not any(objects.is_ready(pod) for pod in models.servers(laptop)), "no server on TPU", 120)
            laptop.edit("local", lambda config: config["llmd-gke:models"][1].update(stopped=False))
            laptop.pulumi("up", "--yes", "--skip-preview", "--stack", "local")  # `make up` asks the first model
            (pod,) = models.ready_servers(laptop, 1, FALLBACK)
            limits = pod["spec"]["containers"][0]["resources"]["limits"]
            assert limits["nvidia.com/gpu"] == "1"
            with steady_load.steady(laptop, tmp_path / "answers.jsonl", *models.endpoint(laptop, FALLBACK)) as load:
                load.await_more(20)
            assert [one for one in load.answers() if one["status"] != 200] == []
        finally:
            laptop.emulator_faults()
        models.ready_servers(laptop, REPLICAS)
