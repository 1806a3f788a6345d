"""Volumes of model pods: weights that KServe does not download, and the cache of compiled graphs.

Sources: kserve ``workload_storage.go`` (nothing is attached with ``storageInitializer.enabled: false``);
https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-ephemeral (volume, annotation);
vllm-project/tpu-inference ``tpu_inference/envs.py`` @b8692ff01 (``VLLM_XLA_CACHE_PATH``: a directory);
https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-perf (options of fast reads);
https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-sidecar (limits of the sidecar).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from llmd_gke.manifests.types import Json, JsonObject
from llmd_gke.settings import ModelSettings

MODEL_PATH = "/mnt/models"
CACHE_PATH = "/var/cache/xla"
FUSE_DRIVER = "gcsfuse.csi.storage.gke.io"
FUSE_ANNOTATION = "gke-gcsfuse/volumes"

PARALLEL_DOWNLOAD = (
    "file-cache:max-size-mb:-1",
    "file-cache:enable-parallel-downloads:true",
    "file-system:kernel-list-cache-ttl-secs:-1",
)
"""Mount options: files are cached without a limit of their own and fetched in parallel, and listings are not repeated
while the pod runs."""

UNLIMITED = {f"gke-gcsfuse/{resource}-limit": "0" for resource in ("cpu", "memory", "ephemeral-storage")}
"""Annotations that lift the limits of the sidecar. The driver's default of 5 GiB of disk would evict a pod with larger
weights; those of CPU (250m) and memory (256 MiB) would slow the download
(GoogleCloudPlatform/gcs-fuse-csi-driver ``cmd/webhook/main.go`` @019e33175)."""


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
    return model.weights_uri.startswith(("gs://", "pvc://"))


def weights(model: ModelSettings) -> Attached:
    """The volume with the weights, mounted where KServe would download them to."""
    if not brings_own_weights(model):
        return Attached()
    mount: JsonObject = {"name": "weights", "mountPath": MODEL_PATH, "readOnly": True}
    if model.weights_uri.startswith("gs://"):
        faster = PARALLEL_DOWNLOAD if model.parallel_download else ()
        return Attached([bucket_volume("weights", model.weights_uri, *faster, read_only=True)], [mount])
    claim, _, path = model.uri.removeprefix("pvc://").partition("/")
    if path.strip("/"):
        mount["subPath"] = path.strip("/")
    volume: JsonObject = {"name": "weights", "persistentVolumeClaim": {"claimName": claim, "readOnly": True}}
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
    return {FUSE_ANNOTATION: "true", **(UNLIMITED if model.parallel_download else {})}


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
