"""Pods on the laptop cloud's kubelet: volumes, Secrets and tokens."""

from __future__ import annotations

from typing import Any, cast

from llmd_gke.catalog.accelerators.tpu import TPU
from llmd_gke.manifests import serving
from llmd_gke.settings import ModelSettings, PoolSettings
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.pods import SERVER, content, ended, is_ready, output, run
from localcloud.tests.real_kubernetes.small_cluster import listed, pod

POOL = PoolSettings(name="v6e4", machine_type="ct6e-standard-4t", topology="2x2", max_nodes=1)


def test_volumes_are_where_the_pod_says_and_follow_their_objects(kubelet: Laptop) -> None:
    kubelet.apply(content("Secret", "s", k="hidden"), content("ConfigMap", "c", k="first"))
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
    name = run(kubelet, made)
    until(lambda: "Read-only" in kubelet.kubectl("logs", name, check=False), "the container has looked", 60)
    kubelet.kubectl("patch", "configmap", "c", "--type=merge", "-p", '{"data": {"k": "second"}}')
    assert until(lambda: ended(kubelet, name), "the change arrives", 30)["status"]["phase"] == "Succeeded"
    assert output(kubelet, name).splitlines() == [
        "hidden hidden True",
        "default True",
        "volumes yes",
        "Read-only file system",
        "second",
    ]


def test_no_secret_lies_on_disk(kubelet: Laptop) -> None:
    kubelet.apply(content("Secret", "s", k="mark-of-a-secret"))
    made = pod(
        "secretive",
        {
            **SERVER,
            "env": [{"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
            "volumeMounts": [{"name": "s", "mountPath": "/s"}],
        },
        volumes=[{"name": "s", "secret": {"secretName": "s"}}],
    )
    name = run(kubelet, made)
    until(lambda: is_ready(kubelet, name), "the pod is Ready", 60)
    # Seen from outside, where what is only mounted inside is not there. etcd is the cluster's own store.
    root = kubelet.layout.root
    holding = [
        str(file)
        for file in root.rglob("*")
        if file.is_file() and not file.is_relative_to(kubelet.layout.etcd) and b"mark-of-a-secret" in file.read_bytes()
    ]
    assert holding == []


def test_the_tokens_rights_are_those_of_the_service_account(kubelet: Laptop) -> None:
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
    name = run(kubelet, pod("asks", {"command": ["python3", "-c", ask]}, restartPolicy="Never"))
    until(lambda: ended(kubelet, name), "the pod has ended", 60)
    assert output(kubelet, name).splitlines() == ["403 True", "200"]


def test_a_pod_waits_for_its_secret_and_says_so(kubelet: Laptop) -> None:
    made = pod("patient", SERVER, volumes=[{"name": "s", "secret": {"secretName": "late"}}])
    name = run(kubelet, made)

    def has_event() -> bool:
        events = listed(kubelet, "events", "--field-selector", f"involvedObject.name={name},reason=FailedMount")
        return any('secret "late" not found' in event["message"] for event in events)

    until(has_event, "an event that names the Secret", 60)
    assert not is_ready(kubelet, name)
    kubelet.apply(content("Secret", "late"))
    until(lambda: is_ready(kubelet, name), "Ready", 30)


def test_a_later_pod_finds_what_the_first_one_has_compiled(kubelet: Laptop) -> None:
    """What the program mounts where the server keeps compiled graphs. A bucket is a folder here."""
    graphs = f"import os, pathlib as p; graph = p.Path(os.environ['{TPU.cache_variable}'], 'graph')\n" + (
        "if not graph.exists(): graph.write_text(os.environ['HOSTNAME'])\nprint(graph.read_text())"
    )

    def compiled_by(name: str, cache: str | None) -> str:
        model = ModelSettings.model_validate(
            {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4", "compile_cache": cache}
        )
        config = cast("dict[str, Any]", serving.runtime_config(model, POOL))
        template = config["spec"]["template"]
        container = template["containers"][0]
        made = pod(
            name,
            {
                "command": ["python3", "-c", graphs],
                "env": container["env"],
                "volumeMounts": [one for one in container["volumeMounts"] if one["name"] == "xla-cache"],
            },
            restartPolicy="Never",
            volumes=[one for one in template["volumes"] if one["name"] == "xla-cache"],
        )
        run(kubelet, made)
        until(lambda: ended(kubelet, name), f"{name} has ended", 60)
        return output(kubelet, name).strip()

    bucket = "gs://compiled-graphs/qwen"
    assert compiled_by("first", bucket) == "first"
    kubelet.kubectl("delete", "pod", "first")
    assert compiled_by("second", bucket) == "first"
    assert compiled_by("other-model", "gs://compiled-graphs/other") == "other-model"
    assert compiled_by("no-bucket", None) == "no-bucket"
