"""The product's own program on real Kubernetes and real KServe, from its first update on.

The tests run in their order on one laptop cloud, as a user's days do; each leaves the stack as it found it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import psutil
import pytest

from localcloud.tests.real_kubernetes import models, objects
from localcloud.tests.real_kubernetes.harness import CONTROL_PLANE, Laptop, until
from localcloud.tests.real_kubernetes.models import first, ready_servers, servers, service

CONTROLLERS = {
    "cert-manager": ("cert-manager", "cert-manager-cainjector", "cert-manager-webhook"),
    "lws-system": ("lws-controller-manager",),
    "kserve": ("llmisvc-controller-manager",),
}
ACCOUNTS = {
    ("cert-manager", "cert-manager"): "cert-manager",
    ("kserve", "llmisvc-controller-manager"): "llmisvc-controller-manager",
    ("lws-system", "lws-controller-manager"): "lws-controller-manager",
}
"""Service accounts that the charts make for their controllers."""


def tpu_nodes(laptop: Laptop) -> list[objects.Object]:
    return [node for node in objects.every(laptop, "nodes") if "google.com/tpu" in node["status"]["capacity"]]


def test_every_controller_runs_from_its_chart_as_its_own_service_account(laptop: Laptop) -> None:
    for namespace, deployments in CONTROLLERS.items():
        for name in deployments:
            deployment = objects.one(laptop, "deployment", name, namespace)
            assert deployment is not None, f"{namespace}/{name} is missing"
            assert deployment["metadata"]["annotations"]["meta.helm.sh/release-namespace"] == namespace
            assert objects.condition(deployment, "Available") == "True", objects.why(deployment)
            pods = objects.pods_of(laptop, name, namespace)
            assert pods
            for pod in pods:
                assert pod["status"]["phase"] == "Running"
                assert pod["spec"]["serviceAccountName"] == ACCOUNTS.get((namespace, name), name)


PRIVILEGED = {"containers": [{"name": "a", "image": "a", "securityContext": {"privileged": True}}]}
PLAIN = {"containers": [{"name": "a", "image": "a"}]}


@pytest.mark.parametrize(
    ("namespace", "pod", "level"),
    [
        *[(namespace, PRIVILEGED, "baseline") for namespace in (objects.MODELS, *CONTROLLERS)],
        ("inference-gateway", PLAIN, "restricted"),
    ],
)
def test_the_api_server_refuses_pods_below_the_namespaces_pod_security_standard(
    laptop: Laptop, namespace: str, pod: dict[str, Any], level: str
) -> None:
    metadata = {"name": "intruder", "namespace": namespace}
    manifest = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod})
    done = laptop.inside("kubectl", "apply", "--dry-run=server", "-f", "-", stdin=manifest, check=False)
    assert f'violates PodSecurity "{level}:latest"' in done.stderr, done.stdout + done.stderr


def test_the_stack_is_ready_on_tpu_hosts_of_its_own_pool(laptop: Laptop) -> None:
    assert objects.condition(service(laptop), "Ready") == "True", objects.why(service(laptop))
    pods = ready_servers(laptop, 3)
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 3
    nodes = {objects.name(node): node for node in tpu_nodes(laptop)}
    for pod in pods:
        labels = nodes[pod["spec"]["nodeName"]]["metadata"]["labels"]
        assert labels["cloud.google.com/gke-nodepool"] == "v6e4"
        assert labels["cloud.google.com/gke-tpu-topology"] == "2x2"
    pickers = objects.pods_of(laptop, service(laptop)["status"]["workloads"]["scheduler"]["name"])
    assert [objects.is_ready(pod) for pod in pickers] == [True]
    assert pickers[0]["spec"]["nodeName"] not in nodes


def test_a_second_update_changes_nothing(laptop: Laptop) -> None:
    steps = laptop.steps("up", "--yes", "--skip-preview")
    assert set(steps.values()) == {"same"}, steps


def test_a_refresh_finds_no_drift(laptop: Laptop) -> None:
    laptop.pulumi("refresh", "--yes", "--expect-no-changes", "--stack", "local")


def test_an_object_that_somebody_deleted_is_found_by_a_refresh_and_made_again(laptop: Laptop) -> None:
    laptop.kubectl("delete", "healthcheckpolicies.networking.gke.io", "-n", objects.MODELS, "--all")
    laptop.pulumi("refresh", "--yes", "--stack", "local")
    again = laptop.steps("up", "--yes", "--skip-preview")
    made = {name for name, step in again.items() if step == "create"}
    assert made == {"qwen-health-pool", "qwen-health-service"}, again


def test_a_model_is_scaled_down_and_up_and_hosts_follow(laptop: Laptop) -> None:
    laptop.edit("local", lambda config: first(config).update(replicas=1))
    laptop.up()
    ready_servers(laptop, 1)
    until(lambda: len(tpu_nodes(laptop)) == 1, "the autoscaler to remove the hosts that nobody needs")
    laptop.edit("local", lambda config: first(config).update(replicas=3))
    laptop.up()
    pods = ready_servers(laptop, 3)
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 3


def test_a_changed_server_argument_replaces_every_pod_where_there_is_a_spare_host(laptop: Laptop) -> None:
    before = objects.names(ready_servers(laptop, 3))
    laptop.edit("local", lambda config: first(config).update(maxModelLen=4096))
    laptop.up()

    def replaced() -> bool:
        pods = servers(laptop)
        fresh = not objects.names(pods) & before and len(pods) == 3
        return fresh and all("4096" in objects.arguments(pod) for pod in pods)

    until(replaced, "three new pods with the new argument")
    assert not objects.names(ready_servers(laptop, 3)) & before


def test_without_a_spare_host_an_update_hangs_while_the_service_says_ready(laptop: Laptop) -> None:
    """The trap that the settings guard against: `docs/pools.md`, "Updates need room"."""

    def tight(config: dict[str, Any]) -> None:
        config["llmd-gke:pools"][0].update(maxNodes=3, updatesNeedStop=True)
        first(config).update(maxModelLen=8192)

    old = objects.names(ready_servers(laptop, 3))
    with models.changed(laptop):
        laptop.edit("local", tight)
        laptop.up()
        pending = until(
            lambda: [pod for pod in servers(laptop) if pod["status"]["phase"] == "Pending"], "a pod without a host"
        )
        reasons = " ".join(event["message"] for event in objects.every(laptop, "events", namespace=objects.MODELS))
        assert re.search(r"Insufficient google.com/tpu|didn't match|max node group size", reasons), reasons
        assert "8192" in objects.arguments(pending[0])
        assert objects.condition(service(laptop), "Ready") == "True"
        assert old <= objects.names(servers(laptop)), "no old pod may go before a new one is there"
    ready_servers(laptop, 3)


@pytest.mark.parametrize("victim", ["llmisvc-controller-manager", "kube-apiserver"])
def test_what_is_killed_in_the_middle_of_an_update_comes_back_and_the_update_or_the_next_one_succeeds(
    laptop: Laptop, victim: str
) -> None:
    with models.changed(laptop):
        laptop.edit("local", lambda config: first(config).update(maxModelLen=2048))
        with laptop.started("up") as update:
            until(lambda: [one for one in inside(laptop) if named(one, "pulumi")], "the engine runs")
            until(lambda: process_of(laptop, victim), victim).kill()
            output, _ = update.communicate(timeout=600)
        if update.returncode:
            assert "Fix: " in output, output
            assert "Traceback" not in output
            laptop.up()
        until(lambda: all("2048" in objects.arguments(pod) for pod in servers(laptop)), "pods with the new argument")
        ready_servers(laptop, 3)
        until(lambda: process_of(laptop, victim), f"{victim} again")


def test_an_engine_killed_while_it_makes_a_model_is_recovered_from_and_nothing_is_made_twice(laptop: Laptop) -> None:
    """The service is there and not ready yet: the engine waits for it and has not noted it."""
    with models.changed(laptop):
        laptop.edit("local", models.add_second)
        with laptop.started("up") as update:
            until(lambda: objects.one(laptop, models.SERVICES, "small", objects.MODELS), "the second service", 300)
            for engine in [one for one in inside(laptop) if named(one, "pulumi")]:
                engine.kill()
            output, _ = update.communicate(timeout=120)
        assert update.returncode == 1, output
        assert "The engine was killed. `make up CLOUD=laptop` repairs what it left and continues." in output
        left, started = laptop.state(), of_second_model(laptop)
        assert left is not None
        assert ("small-service", "creating") in [(one.urn.rpartition("::")[2], one.kind) for one in left.pending]
        assert {"NetworkPolicy/small-workload", "HTTPRoute/small-route", "LLMInferenceService/small"} <= set(started)

        again = laptop.up().stdout
        assert "recovery: removed the lock of an engine that is no longer running" in again
        assert "small-service: was created, but the state lacked it; imported with ID models/small" in again
        after = laptop.state()
        assert after is not None
        assert after.pending == ()
        assert after.ids.count("models/small") == 1
        assert started.items() <= of_second_model(laptop).items(), "what there was is made anew"
        ready_servers(laptop, 1, "small")
        steps = laptop.steps("up", "--yes", "--skip-preview")
        assert steps["small-service"] == "same"
        assert set(steps.values()) == {"same"}, steps
        # The API server lets a field be changed by whoever has set it.
        laptop.edit("local", lambda config: config["llmd-gke:models"][1].update(replicas=2))
        steps = laptop.steps("up", "--yes", "--skip-preview")
        assert steps["small-service"] == "update"
        ready_servers(laptop, 2, "small")


def of_second_model(laptop: Laptop) -> dict[str, str]:
    """What the program makes for the second model, by kind and name, and who each is: their UIDs."""
    ours = "llminferenceserviceconfigs.serving.kserve.io,networkpolicies,httproutes.gateway.networking.k8s.io"
    policies = "healthcheckpolicies.networking.gke.io,gcpbackendpolicies.networking.gke.io"
    obj = objects.every(laptop, f"{models.SERVICES},{ours},{policies}", namespace=objects.MODELS)
    return {
        f"{thing['kind']}/{objects.name(thing)}": thing["metadata"]["uid"]
        for thing in obj
        if objects.name(thing).startswith("small")
    }


def inside(laptop: Laptop) -> list[psutil.Process]:
    namespaces = laptop.namespaces()
    assert namespaces is not None
    return list(namespaces.processes())


def named(process: psutil.Process, program: str) -> bool:
    try:
        return Path(process.cmdline()[0]).name == program
    except (psutil.Error, IndexError):
        return False


def process_of(laptop: Laptop, name: str) -> psutil.Process | None:
    """One of the control plane by its name, or the first one in the pod of a controller."""
    if name in CONTROL_PLANE:
        return laptop.outer(name)
    pods = objects.names(objects.pods_of(laptop, name, "kserve"))
    # Pods are in namespaces of their own below the laptop cloud's; their names, with a random end, are nobody else's.
    return next((one for one in psutil.process_iter() if _host(one) in pods), None)


def _host(process: psutil.Process) -> str:
    try:
        return process.environ().get("HOSTNAME", "")
    except psutil.Error:
        return ""
