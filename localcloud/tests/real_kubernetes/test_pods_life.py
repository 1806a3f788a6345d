"""Pods on the laptop cloud's kubelet: how they are started, probed, restarted and ended."""

from __future__ import annotations

import time
from typing import Any

import psutil

from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.objects import condition
from localcloud.tests.real_kubernetes.pods import SERVER, content, ended, is_ready, output, run, see
from localcloud.tests.real_kubernetes.small_cluster import container, listed, pod


def test_a_failing_container_is_restarted_with_back_off_and_its_last_words_are_kept(kubelet: Laptop) -> None:
    failing = {
        "command": ["sh", "-c", "echo about to fail; exit 3"],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    name = run(kubelet, pod("fails", failing))
    result = until(
        lambda: (one := see(kubelet, name)) and container(one).get("restartCount", 0) >= 2 and one, "two restarts", 60
    )
    last = container(result)["lastState"]["terminated"]
    assert (last["exitCode"], last["reason"], last["message"]) == (3, "Error", "about to fail\n")
    waiting = until(lambda: container(see(kubelet, name))["state"].get("waiting"), "back-off", 30)
    assert waiting["reason"] == "CrashLoopBackOff"
    assert "about to fail" in output(kubelet, name, "--previous")


def test_liveness_restarts_and_startup_holds_the_others_back(kubelet: Laptop) -> None:
    kubelet.apply(content("ConfigMap", "vital", state="dead"))
    live = {"exec": {"command": ["grep", "-q", "alive", "/c/state"]}, "periodSeconds": 1, "failureThreshold": 1}
    start = {"exec": {"command": ["test", "-e", "/tmp/up"]}, "periodSeconds": 1, "failureThreshold": 60}
    script = "trap 'exit 0' TERM; until grep -q alive /c/state; do sleep 0.1; done; touch /tmp/up; sleep 600 & wait"
    made = pod(
        "lives",
        {
            "command": ["sh", "-c", script],
            "livenessProbe": live,
            "startupProbe": start,
            "volumeMounts": [{"name": "c", "mountPath": "/c"}],
        },
        volumes=[{"name": "c", "configMap": {"name": "vital"}}],
    )
    name = run(kubelet, made)

    def probed() -> bool:
        events = listed(kubelet, "events", "--field-selector", f"involvedObject.name={name},reason=Unhealthy")
        return any(event["message"].startswith("Startup probe failed") for event in events)

    # Liveness, which allows no failure at all, would end it at once: the startup probe holds it back.
    until(probed, "the startup probe has failed", 60)
    kubelet.kubectl("patch", "configmap", "vital", "--type=merge", "-p", '{"data": {"state": "alive"}}')
    until(lambda: container(see(kubelet, name)).get("started"), "the startup probe passes", 60)
    assert container(see(kubelet, name))["restartCount"] == 0
    kubelet.kubectl("patch", "configmap", "vital", "--type=merge", "-p", '{"data": {"state": "dead"}}')
    until(lambda: container(see(kubelet, name)).get("restartCount") == 1, "liveness restarts it", 60)


def test_readiness_comes_and_goes_with_its_probe(kubelet: Laptop) -> None:
    kubelet.apply(content("ConfigMap", "signal", state="open"))
    probe = {"exec": {"command": ["grep", "-q", "open", "/c/state"]}, "periodSeconds": 1, "failureThreshold": 1}
    made = pod(
        "comes",
        {**SERVER, "readinessProbe": probe, "volumeMounts": [{"name": "c", "mountPath": "/c"}]},
        volumes=[{"name": "c", "configMap": {"name": "signal"}}],
    )
    name = run(kubelet, made)
    ready_pod = until(lambda: is_ready(kubelet, name), "Ready", 60)
    assert {one["type"] for one in ready_pod["status"]["conditions"] if one["status"] == "True"} == {
        "PodScheduled",
        "PodReadyToStartContainers",
        "Initialized",
        "ContainersReady",
        "Ready",
    }
    kubelet.kubectl("patch", "configmap", "signal", "--type=merge", "-p", '{"data": {"state": "closed"}}')
    until(lambda: condition(see(kubelet, name), "Ready") == "False", "not Ready", 30)
    assert container(see(kubelet, name))["restartCount"] == 0


def test_a_container_has_its_grace_and_its_hook_before_it_ends(kubelet: Laptop) -> None:
    script = "trap 'sleep 1; echo ended in peace; exit 0' TERM; echo up; while true; do sleep 0.1; done"
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "echo from the hook >> /proc/1/fd/1"]}}}
    name = run(
        kubelet, pod("graceful", {"command": ["sh", "-c", script], "lifecycle": hook}, terminationGracePeriodSeconds=20)
    )
    until(lambda: is_ready(kubelet, name), "Ready", 60)
    began = time.monotonic()
    kubelet.kubectl("delete", "pod", name)
    assert 1 < time.monotonic() - began < 20
    log = kubelet.layout.pods / f"default_{name}" / "main.0.log"
    assert log.read_text().split("\n")[:3] == ["up", "from the hook", "ended in peace"]


def test_a_container_that_ignores_the_signal_is_killed_when_its_grace_is_over(kubelet: Laptop) -> None:
    name = run(kubelet, pod("stubborn", {"command": ["sh", "-c", "trap '' TERM; while true; do sleep 0.1; done"]}))
    until(lambda: is_ready(kubelet, name), "Ready", 60)
    began = time.monotonic()
    kubelet.kubectl("delete", "pod", name)
    assert 2 <= time.monotonic() - began < 20


def test_side_cars_start_before_and_end_after_the_others(kubelet: Laptop) -> None:
    say = "trap 'exit 0' TERM; echo sidecar >> /shared/order; touch /tmp/up; while true; do sleep 0.1; done"
    mount = [{"name": "shared", "mountPath": "/shared"}]
    sidecar = {
        "name": "side",
        "image": "busybox",
        "restartPolicy": "Always",
        "command": ["sh", "-c", say],
        "startupProbe": {"exec": {"command": ["test", "-e", "/tmp/up"]}, "periodSeconds": 1, "failureThreshold": 60},
        "volumeMounts": mount,
    }
    first = {
        "name": "first",
        "image": "busybox",
        "command": ["sh", "-c", "echo init >> /shared/order"],
        "volumeMounts": mount,
    }
    made = pod(
        "ordered",
        {"command": ["sh", "-c", "echo main >> /shared/order; sleep 1; cat /shared/order"], "volumeMounts": mount},
        initContainers=[sidecar, first],
        restartPolicy="Never",
        volumes=[{"name": "shared", "emptyDir": {}}],
    )
    name = run(kubelet, made)
    ended_pod = until(lambda: ended(kubelet, name), "the pod has ended", 60)
    assert ended_pod["status"]["phase"] == "Succeeded"
    assert output(kubelet, name).splitlines() == ["sidecar", "init", "main"]
    assert container(ended_pod, "side")["state"]["terminated"]["exitCode"] == 0


def test_an_unknown_image_names_the_table_and_an_entry_there_helps(kubelet: Laptop) -> None:
    name = run(kubelet, pod("unknown", {"image": "example.com/unknown:1", "command": ["sh", "-c", "sleep 60"]}))

    def refused() -> dict[str, Any] | None:
        pod = container(see(kubelet, name)).get("state", {}).get("waiting", {})
        return pod if pod.get("message") else None

    waiting = until(refused, "a reason", 60)
    table = kubelet.workdir.home / "images.toml"
    assert waiting["reason"] == "ErrImageNeverPull"
    assert str(table) in waiting["message"]
    table.write_text('[[image]]\nrepository = "example.com/unknown"\nentrypoint = ["sh"]\ntools = true\n')
    until(lambda: is_ready(kubelet, name), "Ready", 30)


def test_pods_run_again_after_the_kubelet_died(kubelet: Laptop) -> None:
    name = run(kubelet, pod("survivor", {**SERVER, "readinessProbe": {"httpGet": {"port": 8000}, "periodSeconds": 1}}))
    before = until(lambda: is_ready(kubelet, name), "Ready", 60)
    process = kubelet.outer("kubelet")
    assert process is not None
    theirs = process.children(recursive=True)
    assert theirs
    process.kill()
    _, left = psutil.wait_procs(theirs, timeout=30)
    assert left == [], "its pods end with it"
    result = until(
        lambda: (one := is_ready(kubelet, name)) and container(one)["restartCount"] == 1 and one, "it runs again", 90
    )
    assert container(result)["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
    # Two addresses of one kind would be refused, and with them every later status.
    assert result["status"]["podIPs"] == before["status"]["podIPs"]
