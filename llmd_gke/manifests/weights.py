"""Volumes of model pods: weights that KServe does not download, and the cache of compiled graphs.

Sources: kserve ``workload_storage.go`` (nothing is attached with ``storageInitializer.enabled: false``);
https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-ephemeral (volume, annotation);
vllm-project/tpu-inference ``tpu_inference/envs.py`` @b8692ff01 (``VLLM_XLA_CACHE_PATH``: a directory);
https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-perf (options of fast reads);
https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-sidecar (limits of the sidecar).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from llmd_gke.json_types import Json, JsonObject
from llmd_gke.rules import adapters as rules
from llmd_gke.settings import ModelSettings

MODEL_PATH = "/mnt/models"
CACHE_PATH = "/var/cache/xla"
ADAPTERS_PATH = "/mnt/lora"
"""The folder below which KServe puts adapters that it downloads, each by its name."""
FUSE_DRIVER = "gcsfuse.csi.storage.gke.io"
FUSE_ANNOTATION = "gke-gcsfuse/volumes"

UNCHANGED = ("metadata-cache:ttl-secs:-1", "file-system:kernel-list-cache-ttl-secs:-1")
"""Mount options of files that do not change while a pod runs: what is known of them, and listings, stay valid."""

BUFFERED_READ = (
    *UNCHANGED,
    "file-cache:max-size-mb:0",
    "read:enable-buffered-read:true",
    "read:global-max-blocks:80",
    "read_ahead_kb=131072",
)
"""Mount options: what is read in sequence is fetched ahead into memory, up to 80 blocks of 16 MB, and the kernel asks
for 128 MiB at a time. Without them, a server on TPU hosts took an hour for 16 GB (marin-community/marin#1208; see also
vllm-project/vllm#23115), and the startup probe would end it. GKE's StorageClass ``gcsfusecsi-serving`` sets the last
four (GoogleCloudPlatform/gcs-fuse-csi-driver ``deploy/base/setup/storageclass.yaml`` @5fcdc04a). Google's recipe for
vLLM on TPU has buffered reads and the same read-ahead, with Run:ai Model Streamer as the reader
(AI-Hypercomputer/tpu-recipes ``inference/ironwood/vLLM/GPT-OSS/README-gcs.md``)."""

PARALLEL_DOWNLOAD = (*UNCHANGED, "file-cache:max-size-mb:-1", "file-cache:enable-parallel-downloads:true")
"""Mount options: files are cached without a limit of their own and fetched in parallel. A file cache turns buffered
reads off (GoogleCloudPlatform/gcsfuse, release notes of v3.3.0)."""

UNLIMITED = {f"gke-gcsfuse/{resource}-limit": "0" for resource in ("cpu", "memory", "ephemeral-storage")}
"""Annotations that lift the limits of the sidecar. The driver's default of 5 GiB of disk would evict a pod with larger
weights in its file cache, the one of memory (256 MiB) is less than what is fetched ahead, and the one of CPU (250m)
would slow both (GoogleCloudPlatform/gcs-fuse-csi-driver ``cmd/webhook/main.go`` @019e33175)."""


@dataclass(frozen=True)
class Attached:
    """Volumes of the pod, and their mounts in the server's container."""

    volumes: list[Json] = field(default_factory=list["Json"])
    mounts: list[Json] = field(default_factory=list["Json"])


def brings_own_weights(model: ModelSettings) -> bool:
    """Whether the program mounts the weights instead of KServe: for ``gs://``, which KServe rejects, and ``pvc://``.

    KServe would also mount the claim in the endpoint picker's pod on a CPU node, which can keep a ReadWriteOnce disk
    from being attached to the TPU node.
    """
    return model.weights_uri.startswith(rules.MOUNTED)


def weights(model: ModelSettings) -> Attached:
    """The volume with the weights, mounted where KServe would download them to."""
    if not brings_own_weights(model):
        return Attached()
    return _mounted("weights", model.weights_uri, MODEL_PATH, parallel=model.parallel_download)


def adapters(model: ModelSettings) -> list[Attached]:
    """The volumes with adapters that are mounted; KServe downloads the others."""
    return [
        _mounted(f"lora-{adapter.name}", adapter.uri, f"{ADAPTERS_PATH}/{adapter.name}")
        for adapter in model.adapters
        if adapter.uri.startswith(rules.MOUNTED)
    ]


def _mounted(name: str, uri: str, path: str, *, parallel: bool = False) -> Attached:
    mount: JsonObject = {"name": name, "mountPath": path, "readOnly": True}
    if uri.startswith("gs://"):
        options = PARALLEL_DOWNLOAD if parallel else BUFFERED_READ
        return Attached([bucket_volume(name, uri, *options, read_only=True)], [mount])
    claim, _, folder = uri.removeprefix("pvc://").partition("/")
    if folder.strip("/"):
        mount["subPath"] = folder.strip("/")
    volume: JsonObject = {"name": name, "persistentVolumeClaim": {"claimName": claim, "readOnly": True}}
    return Attached([volume], [mount])


def cache(model: ModelSettings) -> Attached:
    """The volume for compiled graphs: in the pod, so that they survive restarts of the server, or in a bucket."""
    mount: JsonObject = {"name": "xla-cache", "mountPath": CACHE_PATH}
    if model.compile_cache is None:
        return Attached([{"name": "xla-cache", "emptyDir": {}}], [mount])
    return Attached([bucket_volume("xla-cache", model.compile_cache, read_only=False)], [mount])


def pod_annotations(model: ModelSettings) -> JsonObject:
    """Annotations of pods that mount a bucket; empty for others."""
    if not model.uses_buckets:
        return {}
    return {FUSE_ANNOTATION: "true", **(UNLIMITED if model.read_buckets else {})}


def bucket_volume(name: str, uri: str, *further: str, read_only: bool) -> JsonObject:
    """A volume that Cloud Storage FUSE mounts; ``further``: mount options."""
    bucket, _, path = uri.removeprefix("gs://").partition("/")
    options = ["implicit-dirs", *([f"only-dir={path.strip('/')}"] if path.strip("/") else []), *further]
    return {
        "name": name,
        "csi": {
            "driver": FUSE_DRIVER,
            "readOnly": read_only,
            "volumeAttributes": {"bucketName": bucket, "mountOptions": ",".join(options)},
        },
    }
