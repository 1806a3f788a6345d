"""The Job that copies weights into a bucket, by Kubernetes' own Job controller.

The Job is the program's. Its image is KServe's own script and module with the ``huggingface_hub`` that they pin.
Hugging Face is a stand-in, and a bucket is a folder: what Cloud Storage FUSE does with files is not seen here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from llmd_common import bootstrap
from llmd_gke.manifests import weights, weights_copy
from llmd_gke.settings import ModelSettings
from localcloud.tests.real_kubernetes import weights_hub
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.pods import ended, is_ready, output, run
from localcloud.tests.real_kubernetes.small_cluster import listed, pod
from tests.schema import sources

SET = "weights"
"""The environment of ``huggingface_hub`` (``localcloud/requirements/weights.txt``)."""

NAMESPACE = "copies"
TOKEN = "hf_of_the_job"
MODEL = ModelSettings.model_validate(
    {
        "name": "gated",
        "namespace": NAMESPACE,
        "uri": f"hf://{weights_hub.REPOSITORY}:{weights_hub.COMMIT}",
        "pool": "v6e4",
        "gated": True,
        "weights_cache": "gs://weights/hf",
    }
)
JOB = cast("dict[str, Any]", weights_copy.job(MODEL, account="copier"))
NAME = str(JOB["metadata"]["name"])
LARGE = "model-00002-of-00002.safetensors"
WRITTEN = 20 * weights_hub.MEGABYTE
"""What there is of the large file when its download stops: ``huggingface_hub`` writes pieces of 10 MB."""

IMAGE = """
[[image]]
repository = "*kserve/storage-initializer"
entrypoint = ["/storage-initializer/scripts/initializer-entrypoint"]
programs."/storage-initializer/scripts/initializer-entrypoint" = "file:{script}"
programs."/prod_venv" = "file:{packages}"
programs."/storage" = "file:{kserve}"
environment = {{ PYTHONPATH = "/prod_venv:/storage", HF_ENDPOINT = "http://hub.default.svc.cluster.local:8000" }}
tools = true
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KServe's script, executable as its Dockerfile makes it; skipped without ``huggingface_hub``."""
    if not bootstrap.is_beside(SET):
        pytest.skip(f"not installed. Fix: .venv/bin/python llmd_common/bootstrap.py --beside {SET}")
    copied = tmp_path_factory.mktemp("image") / "initializer-entrypoint"
    path = "python/storage-initializer/scripts/initializer-entrypoint"
    copied.write_text((sources.module(sources.KSERVE) / path).read_text())
    copied.chmod(0o755)
    return copied


@pytest.fixture
def hub(kubelet: Laptop, script: Path) -> Iterator[Laptop]:
    """A cluster with the stand-in for Hugging Face, the image, and a namespace that admits restricted pods only."""
    (packages,) = bootstrap.beside_folder(SET).glob("lib/python3.*/site-packages")
    kserve = sources.module(sources.KSERVE) / "python" / "storage"
    table = kubelet.workdir.home / "images.toml"
    table.write_text(IMAGE.format(script=script, packages=packages, kserve=kserve))
    program = Path(weights_hub.__file__).read_text()
    server = {"command": ["python3", "-c", program], "env": [{"name": "TOKEN", "value": TOKEN}]}
    kubelet.apply(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "hub", "namespace": "default"},
            "spec": {"selector": {"app": "hub"}, "ports": [{"port": 8000}]},
        },
        pod("hub", {**server, "readinessProbe": {"tcpSocket": {"port": 8000}}}),
        in_namespace("ServiceAccount", "copier"),
        in_namespace("Secret", "hugging-face-token", stringData={"HF_TOKEN": TOKEN}),
    )
    until(lambda: is_ready(kubelet, "hub"), "the stand-in for Hugging Face", 60)
    yield kubelet
    kubelet.kubectl("delete", "namespace", NAMESPACE, "--timeout=60s")
    kubelet.kubectl("delete", "service,pod", "hub", "--timeout=60s")
    table.unlink()


def in_namespace(kind: str, name: str, **fields: object) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, **fields}


def downloads(laptop: Laptop) -> list[str]:
    """The files that were downloaded, and from which byte on."""
    lines = output(laptop, "hub").splitlines()
    return [line.removeprefix("download ") for line in lines if line.startswith("download ")]


def pods(laptop: Laptop) -> list[dict[str, Any]]:
    return listed(laptop, "pods", "-n", NAMESPACE, "-l", f"job-name={NAME}")


def complete(laptop: Laptop) -> bool:
    job = laptop.get("job", NAME, "-n", NAMESPACE) or {}
    conditions = (job.get("status") or {}).get("conditions") or []
    assert not [one for one in conditions if one["type"] == "Failed"], conditions
    return any(one["type"] == "Complete" and one["status"] == "True" for one in conditions)


def written(laptop: Laptop) -> int:
    """The bytes of the file that is not complete yet, in the folder that is the bucket; 0 where there is none."""
    buckets = laptop.layout.root / "volumes" / "buckets"
    return max((one.stat().st_size for one in buckets.rglob("*.incomplete")), default=0)


def contents(laptop: Laptop, name: str, model: ModelSettings = MODEL) -> dict[str, str]:
    """What a server's pod finds where the program mounts the weights: hashes by file."""
    attached = weights.weights(model)
    look = (
        "import hashlib, json, pathlib as p; root = p.Path('/mnt/models'); print(json.dumps({str(f.relative_to(root)): "
        "hashlib.sha256(f.read_bytes()).hexdigest() for f in root.iterdir() if f.is_file()}))"
    )
    reader = pod(
        name,
        {"command": ["python3", "-c", look], "volumeMounts": attached.mounts},
        restartPolicy="Never",
        volumes=attached.volumes,
    )
    run(laptop, reader)
    until(lambda: ended(laptop, name), "the reader has ended", 60)
    hashes: dict[str, str] = json.loads(output(laptop, name))
    return hashes


def test_a_killed_job_resumes_and_a_second_one_downloads_nothing(hub: Laptop) -> None:
    hub.apply(JOB)
    until(lambda: written(hub) == WRITTEN, "most of the large file", 90)
    (first,) = pods(hub)
    until(lambda: len(downloads(hub)) == len(weights_hub.FILES), "the other files", 30)
    assert weights_copy.MARKER not in contents(hub, "early"), "a folder that is half full must not count"
    hub.kubectl("delete", "pod", first["metadata"]["name"], "-n", NAMESPACE, "--grace-period=0", "--force")
    until(lambda: complete(hub), "the Job is complete", 120)

    resumed = downloads(hub)[len(weights_hub.FILES) :]
    assert resumed == [f"{LARGE} {WRITTEN}"], "only what was missing"
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in weights_hub.FILES.items()}
    marker = hashlib.sha256(f"{MODEL.uri}\n".encode()).hexdigest()
    assert contents(hub, "late") == hashes | {weights_copy.MARKER: marker}

    before = downloads(hub)
    hub.kubectl("delete", "job", NAME, "-n", NAMESPACE)
    hub.apply(JOB)
    until(lambda: complete(hub), "the second Job is complete", 60)
    assert downloads(hub) == before, "neither the second Job nor the readers download"
    (second,) = pods(hub)
    log = hub.kubectl("logs", second["metadata"]["name"], "-n", NAMESPACE)
    assert "is already in the bucket, nothing to do" in log


def test_without_the_token_the_job_fails_and_writes_no_marker(hub: Laptop) -> None:
    hub.apply(in_namespace("Secret", "hugging-face-token", stringData={"HF_TOKEN": "hf_another"}))
    other = ModelSettings.model_validate({**MODEL.model_dump(), "weights_cache": "gs://weights/other"})
    job = cast("dict[str, Any]", weights_copy.job(other, account="copier"))
    name = str(job["metadata"]["name"])
    hub.apply(job)

    def failed() -> list[dict[str, Any]]:
        made = listed(hub, "pods", "-n", NAMESPACE, "-l", f"job-name={name}")
        return [one for one in made if one["status"].get("phase") == "Failed"]

    until(failed, "the Job's first pod has failed", 90)
    assert downloads(hub) == []
    message = failed()[0]["status"]["containerStatuses"][0]["state"]["terminated"]["message"]
    assert "gated" in message.lower()
    assert weights_copy.MARKER not in contents(hub, "refused", other)
