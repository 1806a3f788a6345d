"""Pods on the laptop cloud's kubelet: addresses, Services, names, and a model server in one."""

from __future__ import annotations

from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.pods import SERVER, ended, get, is_ready, output, run, see, touch
from localcloud.tests.real_kubernetes.small_cluster import container, pod


def test_a_pod_gets_an_address_serves_on_it_and_is_gone_after_its_deletion(kubelet: Laptop) -> None:
    name = run(kubelet, pod("web", {**SERVER, "readinessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 1}}))
    ready_pod = until(lambda: is_ready(kubelet, name), "the pod is Ready", 60)
    address = ready_pod["status"]["podIP"]
    assert address.startswith("10.244.")
    assert ready_pod["status"]["hostIP"].startswith("10.128.")
    assert get(kubelet, f"http://{address}:8000/") == "web"
    kubelet.kubectl("delete", "pod", name)
    assert see(kubelet, name) == {}
    refused = kubelet.python(
        "import socket, sys\n"
        "try: socket.create_connection((sys.argv[1], 8000), timeout=3)\n"
        "except OSError: print('gone')",
        address,
    )
    assert refused.stdout.strip() == "gone"


def test_a_service_leads_to_ready_pods_only_and_to_each_in_turn(kubelet: Laptop) -> None:
    probe = {"httpGet": {"path": "/ready", "port": 8000}, "periodSeconds": 1}
    for name in ("one", "two"):
        made = pod(name, {**SERVER, "readinessProbe": probe, "lifecycle": {"postStart": touch("/tmp/ready")}})
        made["metadata"]["labels"]["app"] = "both"
        run(kubelet, made)
    waiting = pod("three", {**SERVER, "readinessProbe": probe})
    waiting["metadata"]["labels"]["app"] = "both"
    run(kubelet, waiting)
    kubelet.apply(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "both", "namespace": "default"},
            "spec": {"selector": {"app": "both"}, "ports": [{"port": 80, "targetPort": "http"}]},
        }
    )
    address = kubelet.get("service", "both")["spec"]["clusterIP"]
    for name in ("one", "two"):
        until(lambda name=name: is_ready(kubelet, name), f"{name} is Ready", 60)
    asking = (
        "import urllib.request as u\n"
        f"for _ in range(10): print(u.urlopen('http://{address}', timeout=5).read().decode())"
    )

    def both() -> bool:
        return set(kubelet.python(asking).stdout.split()) == {"one", "two"}

    until(both, "both ready pods answer", 30)
    assert container(see(kubelet, "three"))["ready"] is False


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


def test_pods_find_services_and_the_pods_of_headless_ones_by_name(kubelet: Laptop) -> None:
    for name, more in (("named", {}), ("headless", {"clusterIP": "None", "publishNotReadyAddresses": True})):
        ports = [{"port": 80, "targetPort": 8000}]
        spec = {"selector": {"app": "member"}, "ports": ports, **more}
        meta = {"name": name, "namespace": "default"}
        kubelet.apply({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})
    wanted = ("named", "named.default.svc.cluster.local", "member.headless.default")
    looking = {"command": ["python3", "-c", LOOKING, *wanted]}
    run(kubelet, pod("looks", looking, restartPolicy="Never"))
    run(kubelet, pod("member", SERVER, hostname="member", subdomain="headless"))
    until(lambda: ended(kubelet, "looks"), "every name was found", 60)
    service = kubelet.get("service", "named")["spec"]["clusterIP"]
    address = see(kubelet, "member")["status"]["podIP"]
    result = dict(line.split() for line in output(kubelet, "looks").splitlines())
    assert result == {wanted[0]: service, wanted[1]: service, wanted[2]: address}
