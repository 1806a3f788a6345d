"""Pods on the laptop cloud's kubelet: what they see, how they are probed, restarted and ended."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from tests.laptop.harness import Laptop, until
from tests.laptop.small_cluster import cluster, condition, container, listed, pod

HELLO = """
import http.server, os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ok = self.path != "/ready" or os.path.exists("/tmp/ready")
        self.send_response(200 if ok else 503); self.end_headers()
        self.wfile.write(os.environ["HOSTNAME"].encode())
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("", 8000), Hello).serve_forever()
"""
SERVER: dict[str, Any] = {"command": ["python3", "-c", HELLO], "ports": [{"name": "http", "containerPort": 8000}]}


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory, control_plane: None) -> Iterator[Laptop]:
    with cluster(tmp_path_factory.mktemp("pods"), LLMD_GKE_BACK_OFF_SECONDS="0.2") as made:
        until(lambda: made.get("serviceaccount", "default"), "the namespace's service account", 30)
        yield made


@pytest.fixture(autouse=True)
def _empty(laptop: Laptop) -> Iterator[None]:
    yield
    laptop.kubectl("delete", "pods", "--all", "--wait=false", check=False)


def run(laptop: Laptop, obj: dict[str, Any]) -> str:
    laptop.apply(obj)
    return obj["metadata"]["name"]


def content(kind: str, name: str, **data: str) -> dict[str, Any]:
    """A Secret or ConfigMap."""
    key = "stringData" if kind == "Secret" else "data"
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, key: data}


def see(laptop: Laptop, name: str) -> dict[str, Any]:
    return laptop.get("pod", name) or {}


def is_ready(laptop: Laptop, name: str) -> dict[str, Any] | None:
    found = see(laptop, name)
    return found if condition(found, "Ready") == "True" else None


def ended(laptop: Laptop, name: str) -> dict[str, Any] | None:
    found = see(laptop, name)
    return found if found.get("status", {}).get("phase") in ("Succeeded", "Failed") else None


def output(laptop: Laptop, name: str, *words: str) -> str:
    return laptop.kubectl("logs", name, *words)


def get(laptop: Laptop, url: str) -> str:
    return laptop.python(
        "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=5).read().decode(), end='')", url
    ).stdout


def test_a_pod_gets_an_address_serves_on_it_and_is_gone_after_its_deletion(laptop: Laptop) -> None:
    name = run(laptop, pod("web", {**SERVER, "readinessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 1}}))
    found = until(lambda: is_ready(laptop, name), "the pod is Ready", 60)
    address = found["status"]["podIP"]
    assert address.startswith("10.244.")
    assert found["status"]["hostIP"].startswith("10.128.")
    assert get(laptop, f"http://{address}:8000/") == "web"
    laptop.kubectl("delete", "pod", name)
    assert see(laptop, name) == {}
    refused = laptop.python(
        "import socket, sys\n"
        "try: socket.create_connection((sys.argv[1], 8000), timeout=3)\n"
        "except OSError: print('gone')",
        address,
    )
    assert refused.stdout.strip() == "gone"


def test_a_service_leads_to_ready_pods_only_and_to_each_in_turn(laptop: Laptop) -> None:
    probe = {"httpGet": {"path": "/ready", "port": 8000}, "periodSeconds": 1}
    for name in ("one", "two"):
        made = pod(name, {**SERVER, "readinessProbe": probe, "lifecycle": {"postStart": _touch("/tmp/ready")}})
        made["metadata"]["labels"]["app"] = "both"
        run(laptop, made)
    waiting = pod("three", {**SERVER, "readinessProbe": probe})
    waiting["metadata"]["labels"]["app"] = "both"
    run(laptop, waiting)
    laptop.apply(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "both", "namespace": "default"},
            "spec": {"selector": {"app": "both"}, "ports": [{"port": 80, "targetPort": "http"}]},
        }
    )
    address = laptop.get("service", "both")["spec"]["clusterIP"]
    for name in ("one", "two"):
        until(lambda name=name: is_ready(laptop, name), f"{name} is Ready", 60)
    asking = (
        "import urllib.request as u\n"
        f"for _ in range(10): print(u.urlopen('http://{address}', timeout=5).read().decode())"
    )

    def both() -> bool:
        return set(laptop.python(asking).stdout.split()) == {"one", "two"}

    until(both, "both ready pods answer", 30)
    assert container(see(laptop, "three"))["ready"] is False


LOOKING = """
import socket, sys, time
for name in sys.argv[1:]:
    while True:
        try:
            print(name, socket.gethostbyname(name), flush=True)
            break
        except OSError:
            time.sleep(0.1)
"""


def test_pods_find_services_and_the_pods_of_headless_ones_by_name(laptop: Laptop) -> None:
    for name, more in (("named", {}), ("headless", {"clusterIP": "None", "publishNotReadyAddresses": True})):
        ports = [{"port": 80, "targetPort": 8000}]
        spec = {"selector": {"app": "member"}, "ports": ports, **more}
        meta = {"name": name, "namespace": "default"}
        laptop.apply({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})
    wanted = ("named", "named.default.svc.cluster.local", "member.headless.default")
    looking = {"command": ["python3", "-c", LOOKING, *wanted]}
    run(laptop, pod("looks", looking, restartPolicy="Never"))
    run(laptop, pod("member", SERVER, hostname="member", subdomain="headless"))
    until(lambda: ended(laptop, "looks"), "every name was found", 60)
    service = laptop.get("service", "named")["spec"]["clusterIP"]
    address = see(laptop, "member")["status"]["podIP"]
    found = dict(line.split() for line in output(laptop, "looks").splitlines())
    assert found == {wanted[0]: service, wanted[1]: service, wanted[2]: address}


def _touch(path: str) -> dict[str, Any]:
    return {"exec": {"command": ["touch", path]}}


def test_volumes_are_where_the_pod_says_and_follow_their_objects(laptop: Laptop) -> None:
    laptop.apply(content("Secret", "s", k="hidden"), content("ConfigMap", "c", k="first"))
    look = """
import os, time, pathlib as p
token = p.Path('/var/run/secrets/kubernetes.io/serviceaccount')
print(p.Path('/s/k').read_text(), p.Path('/one').read_text(), len((token/'token').read_text()) > 500, flush=True)
print((token/'namespace').read_text(), 'BEGIN CERTIFICATE' in (token/'ca.crt').read_text(), flush=True)
print(p.Path('/pod/name').read_text(), p.Path('/data/made').read_text().strip(), flush=True)
try: p.Path('/s/k').write_text('x')
except OSError as error: print(error.strerror, flush=True)
while p.Path('/c/k').read_text() == 'first': time.sleep(0.1)
print(p.Path('/c/k').read_text(), flush=True)
"""
    mounts = [
        {"name": "s", "mountPath": "/s"},
        {"name": "s", "mountPath": "/one", "subPath": "k"},
        {"name": "c", "mountPath": "/c"},
        {"name": "d", "mountPath": "/data"},
        {"name": "p", "mountPath": "/pod"},
    ]
    made = pod(
        "volumes",
        {"command": ["python3", "-c", look], "volumeMounts": mounts},
        restartPolicy="Never",
        initContainers=[
            {
                "name": "init",
                "image": "busybox",
                "command": ["sh", "-c", "echo yes > /data/made"],
                "volumeMounts": [mounts[3]],
            }
        ],
        volumes=[
            {"name": "s", "secret": {"secretName": "s"}},
            {"name": "c", "configMap": {"name": "c"}},
            {"name": "d", "emptyDir": {}},
            {"name": "p", "downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        ],
    )  # fmt: skip
    name = run(laptop, made)
    until(lambda: "Read-only" in laptop.kubectl("logs", name, check=False), "the container has looked", 60)
    laptop.kubectl("patch", "configmap", "c", "--type=merge", "-p", '{"data": {"k": "second"}}')
    assert until(lambda: ended(laptop, name), "the change arrives", 30)["status"]["phase"] == "Succeeded"
    assert output(laptop, name).splitlines() == [
        "hidden hidden True",
        "default True",
        "volumes yes",
        "Read-only file system",
        "second",
    ]


def test_no_secret_lies_on_disk(laptop: Laptop) -> None:
    laptop.apply(content("Secret", "s", k="mark-of-a-secret"))
    made = pod(
        "secretive",
        {
            **SERVER,
            "env": [{"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
            "volumeMounts": [{"name": "s", "mountPath": "/s"}],
        },
        volumes=[{"name": "s", "secret": {"secretName": "s"}}],
    )
    name = run(laptop, made)
    until(lambda: is_ready(laptop, name), "the pod is Ready", 60)
    # Seen from outside, where what is only mounted inside is not there. etcd is the cluster's own store.
    root = laptop.layout.root
    holding = [
        str(file)
        for file in root.rglob("*")
        if file.is_file() and not file.is_relative_to(laptop.layout.etcd) and b"mark-of-a-secret" in file.read_bytes()
    ]
    assert holding == []


def test_the_tokens_rights_are_those_of_the_service_account(laptop: Laptop) -> None:
    ask = """
import os, ssl, urllib.request, urllib.error, pathlib
account = pathlib.Path('/var/run/secrets/kubernetes.io/serviceaccount')
host = os.environ['KUBERNETES_SERVICE_HOST'] + ':' + os.environ['KUBERNETES_SERVICE_PORT']
trust = ssl.create_default_context(cafile=account / 'ca.crt')
for path in ('/api/v1/namespaces/default/secrets', '/version'):
    bearer = {'Authorization': 'Bearer ' + (account / 'token').read_text()}
    request = urllib.request.Request(f'https://{host}{path}', headers=bearer)
    try: print(urllib.request.urlopen(request, context=trust, timeout=10).status)
    except urllib.error.HTTPError as error: print(error.code, 'default:default' in error.read().decode())
"""
    name = run(laptop, pod("asks", {"command": ["python3", "-c", ask]}, restartPolicy="Never"))
    until(lambda: ended(laptop, name), "the pod has ended", 60)
    assert output(laptop, name).splitlines() == ["403 True", "200"]


def test_a_failing_container_is_restarted_with_back_off_and_its_last_words_are_kept(laptop: Laptop) -> None:
    failing = {
        "command": ["sh", "-c", "echo about to fail; exit 3"],
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    name = run(laptop, pod("fails", failing))
    found = until(
        lambda: (one := see(laptop, name)) and container(one).get("restartCount", 0) >= 2 and one, "two restarts", 60
    )
    last = container(found)["lastState"]["terminated"]
    assert (last["exitCode"], last["reason"], last["message"]) == (3, "Error", "about to fail\n")
    waiting = until(lambda: container(see(laptop, name))["state"].get("waiting"), "back-off", 30)
    assert waiting["reason"] == "CrashLoopBackOff"
    assert "about to fail" in output(laptop, name, "--previous")


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (4, "Failed")])
def test_a_pod_that_is_not_restarted_ends_with_its_container(laptop: Laptop, code: int, phase: str) -> None:
    name = run(laptop, pod(f"ends-{code}", {"command": ["sh", "-c", f"exit {code}"]}, restartPolicy="Never"))
    found = until(lambda: ended(laptop, name), "the pod has ended", 60)
    assert found["status"]["phase"] == phase
    assert container(found)["state"]["terminated"]["exitCode"] == code
    assert container(found)["restartCount"] == 0


def test_liveness_restarts_and_startup_holds_the_others_back(laptop: Laptop) -> None:
    laptop.apply(content("ConfigMap", "vital", state="dead"))
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
    name = run(laptop, made)

    def probed() -> bool:
        found = listed(laptop, "events", "--field-selector", f"involvedObject.name={name},reason=Unhealthy")
        return any(event["message"].startswith("Startup probe failed") for event in found)

    # Liveness, which allows no failure at all, would end it at once: the startup probe holds it back.
    until(probed, "the startup probe has failed", 60)
    laptop.kubectl("patch", "configmap", "vital", "--type=merge", "-p", '{"data": {"state": "alive"}}')
    until(lambda: container(see(laptop, name)).get("started"), "the startup probe passes", 60)
    assert container(see(laptop, name))["restartCount"] == 0
    laptop.kubectl("patch", "configmap", "vital", "--type=merge", "-p", '{"data": {"state": "dead"}}')
    until(lambda: container(see(laptop, name)).get("restartCount") == 1, "liveness restarts it", 60)


def test_readiness_comes_and_goes_with_its_probe(laptop: Laptop) -> None:
    laptop.apply(content("ConfigMap", "signal", state="open"))
    probe = {"exec": {"command": ["grep", "-q", "open", "/c/state"]}, "periodSeconds": 1, "failureThreshold": 1}
    made = pod(
        "comes",
        {**SERVER, "readinessProbe": probe, "volumeMounts": [{"name": "c", "mountPath": "/c"}]},
        volumes=[{"name": "c", "configMap": {"name": "signal"}}],
    )
    name = run(laptop, made)
    found = until(lambda: is_ready(laptop, name), "Ready", 60)
    assert {one["type"] for one in found["status"]["conditions"] if one["status"] == "True"} == {
        "PodScheduled",
        "PodReadyToStartContainers",
        "Initialized",
        "ContainersReady",
        "Ready",
    }
    laptop.kubectl("patch", "configmap", "signal", "--type=merge", "-p", '{"data": {"state": "closed"}}')
    until(lambda: condition(see(laptop, name), "Ready") == "False", "not Ready", 30)
    assert container(see(laptop, name))["restartCount"] == 0


def test_a_container_has_its_grace_and_its_hook_before_it_ends(laptop: Laptop) -> None:
    script = "trap 'sleep 1; echo ended in peace; exit 0' TERM; echo up; while true; do sleep 0.1; done"
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "echo from the hook >> /proc/1/fd/1"]}}}
    name = run(
        laptop, pod("graceful", {"command": ["sh", "-c", script], "lifecycle": hook}, terminationGracePeriodSeconds=20)
    )
    until(lambda: is_ready(laptop, name), "Ready", 60)
    began = time.monotonic()
    laptop.kubectl("delete", "pod", name)
    assert 1 < time.monotonic() - began < 20
    log = laptop.layout.pods / f"default_{name}" / "main.0.log"
    assert log.read_text().split("\n")[:3] == ["up", "from the hook", "ended in peace"]


def test_a_container_that_ignores_the_signal_is_killed_when_its_grace_is_over(laptop: Laptop) -> None:
    name = run(laptop, pod("stubborn", {"command": ["sh", "-c", "trap '' TERM; while true; do sleep 0.1; done"]}))
    until(lambda: is_ready(laptop, name), "Ready", 60)
    began = time.monotonic()
    laptop.kubectl("delete", "pod", name)
    assert 2 <= time.monotonic() - began < 20


def test_side_cars_start_before_and_end_after_the_others(laptop: Laptop) -> None:
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
    name = run(laptop, made)
    found = until(lambda: ended(laptop, name), "the pod has ended", 60)
    assert found["status"]["phase"] == "Succeeded"
    assert output(laptop, name).splitlines() == ["sidecar", "init", "main"]
    assert container(found, "side")["state"]["terminated"]["exitCode"] == 0


def test_a_pod_waits_for_its_secret_and_says_so(laptop: Laptop) -> None:
    made = pod("patient", SERVER, volumes=[{"name": "s", "secret": {"secretName": "late"}}])
    name = run(laptop, made)

    def told() -> bool:
        found = listed(laptop, "events", "--field-selector", f"involvedObject.name={name},reason=FailedMount")
        return any('secret "late" not found' in event["message"] for event in found)

    until(told, "an event that names the Secret", 60)
    laptop.apply(content("Secret", "late"))
    until(lambda: is_ready(laptop, name), "Ready", 30)


def test_an_unknown_image_names_the_table_and_an_entry_there_helps(laptop: Laptop) -> None:
    name = run(laptop, pod("unknown", {"image": "example.com/unknown:1", "command": ["sh", "-c", "sleep 60"]}))

    def refused() -> dict[str, Any] | None:
        found = container(see(laptop, name)).get("state", {}).get("waiting", {})
        return found if found.get("message") else None

    waiting = until(refused, "a reason", 60)
    table = laptop.places.home / "images.toml"
    assert waiting["reason"] == "ErrImageNeverPull"
    assert str(table) in waiting["message"]
    table.write_text('[[image]]\nrepository = "example.com/unknown"\nentrypoint = ["sh"]\ntools = true\n')
    until(lambda: is_ready(laptop, name), "Ready", 30)


def test_pods_run_again_after_the_kubelet_died(laptop: Laptop) -> None:
    name = run(laptop, pod("survivor", {**SERVER, "readinessProbe": {"httpGet": {"port": 8000}, "periodSeconds": 1}}))
    before = until(lambda: is_ready(laptop, name), "Ready", 60)
    kubelet = laptop.outer("kubelet")
    assert kubelet is not None
    theirs = kubelet.children(recursive=True)
    assert theirs
    kubelet.kill()
    _, left = psutil.wait_procs(theirs, timeout=30)
    assert left == [], "its pods end with it"
    found = until(
        lambda: (one := is_ready(laptop, name)) and container(one)["restartCount"] == 1 and one, "it runs again", 90
    )
    assert container(found)["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
    # Two addresses of one kind would be refused, and with them every later status.
    assert found["status"]["podIPs"] == before["status"]["podIPs"]


def test_a_model_server_answers_under_each_of_its_names(laptop: Laptop) -> None:
    server = {
        "image": "docker.io/vllm/vllm-tpu:v0.27.0",
        "command": ["vllm", "serve", "/mnt/models"],
        "args": ["--served-model-name", "qwen", "publishers/llm/models/qwen", "--port", "8000", "--dtype", "bfloat16"],
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 1},
    }
    name = run(laptop, pod("model", server))
    address = until(lambda: is_ready(laptop, name), "Ready", 60)["status"]["podIP"]
    ask = (
        "import json, sys, urllib.request as u\n"
        "body = json.dumps({'model': sys.argv[2], 'prompt': 'hello there', 'max_tokens': 5}).encode()\n"
        "request = u.Request(f'http://{sys.argv[1]}:8000/v1/completions', body, {'Content-Type': 'application/json'})\n"
        "print(u.urlopen(request, timeout=10).read().decode())"
    )
    for served in ("qwen", "publishers/llm/models/qwen"):
        answer = json.loads(laptop.python(ask, address, served).stdout)
        assert "hello" in answer["choices"][0]["text"]
    assert "arguments of vLLM that it does not have: --dtype bfloat16" in output(laptop, name)
