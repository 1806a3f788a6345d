"""The Job that copies weights from Hugging Face into a bucket, once, before a model's pods start.

It runs KServe's downloader for ``hf://`` (kserve ``python/storage-initializer``, of which KServe's own model cache runs
Jobs, too) on a writable mount of the bucket. ``huggingface_hub`` records finished files below ``.cache`` of the folder
and skips them when it runs again (https://huggingface.co/docs/huggingface_hub/guides/download#download-files-to-a-local-folder),
so a Job that was killed resumes. The marker is written last: without it a folder does not count.
"""

from __future__ import annotations

from llmd_gke.catalog import registries, versions
from llmd_gke.catalog.registries import NONE, Mirrors
from llmd_gke.json_types import Json, JsonObject, kubernetes_object
from llmd_gke.manifests import egress, firewall, identity, naming, weights
from llmd_gke.manifests.named import Named, account, named, names
from llmd_gke.settings import ModelSettings, NetworkSettings

MARKER = ".llmd-gke-complete"
"""The file that says that all others are there; its content is the source."""

USER = 1000
"""The user of the image (kserve ``python/storage-initializer.Dockerfile``); the mount belongs to it."""

SCRIPT = f"""if [ -e "$2/{MARKER}" ]; then echo "$1 is already in the bucket, nothing to do"; exit 0; fi
/storage-initializer/scripts/initializer-entrypoint "$1" "$2"
echo "$1" > "$2/{MARKER}"
echo "$1 is complete in the bucket"
"""

MOUNT_OPTIONS = (f"uid={USER}", f"gid={USER}", "write:enable-streaming-writes:true")
"""A mount belongs to root unless told otherwise, and files are uploaded while they are written
(https://cloud.google.com/kubernetes-engine/docs/how-to/cloud-storage-fuse-csi-driver-perf)."""

ATTEMPTS = 6
"""Further pods after a failed one; each resumes."""


JOB = "job"


def objects(model: ModelSettings, *, network: NetworkSettings, mirrors: Mirrors, cluster: str) -> list[Named]:
    """The Job, after its service account and its NetworkPolicies."""
    name = identity.copy_account(model, cluster)
    needed = named({"account": account(name, model.namespace), "allow": network_policy(model, network)})
    if (allowed := egress.copy_policy(model, network.egress)) is not None:
        needed.append(Named("allow-names", allowed))
    return [*needed, Named(JOB, job(model, account=name, mirrors=mirrors), names(needed))]


def network_policy(model: ModelSettings, network: NetworkSettings) -> JsonObject:
    """Lets the Job's pods download, and get their Google identity; nothing reaches them."""
    spec: JsonObject = {
        "podSelector": {"matchLabels": naming.copy_labels(model.name)},
        "policyTypes": ["Ingress", "Egress"],
        "egress": [*egress.downloads(network.egress), *firewall.identity_server()],
    }
    return firewall.policy(f"{model.name}-copy", model.namespace, spec)


def job(model: ModelSettings, *, account: str, mirrors: Mirrors = NONE) -> JsonObject:
    """The Job. Of all pods only its own have the Hugging Face token. ``account``: its service account."""
    token: JsonObject = {"secretKeyRef": {"name": naming.TOKEN_SECRET, "key": "HF_TOKEN"}}
    environment: list[Json] = [
        {"name": "HOME", "value": "/tmp"},  # noqa: S108 - a volume of the pod
        # Xet writes a file's parts in any order, which Cloud Storage FUSE can only upload after the last one.
        {"name": "HF_HUB_DISABLE_XET", "value": "1"},
        *([{"name": "HF_TOKEN", "valueFrom": token}] if model.needs_token else []),
    ]
    container: JsonObject = {
        "name": "copy",
        "image": registries.at(versions.image("storage-initializer"), mirrors.images),
        "command": ["sh", "-ec", SCRIPT, "copy", model.uri, weights.MODEL_PATH],
        "env": environment,
        "resources": {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "4Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"name": "weights", "mountPath": weights.MODEL_PATH}, {"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
    }
    pod: JsonObject = {
        # A failed pod stays, with its log; the next one resumes.
        "restartPolicy": "Never",
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [
            weights.bucket_volume("weights", model.weights_uri, *MOUNT_OPTIONS, read_only=False),
            {"name": "tmp", "emptyDir": {"sizeLimit": "1Gi"}},
        ],
    }
    annotations: JsonObject = {weights.FUSE_ANNOTATION: "true", **weights.UNLIMITED}
    metadata: JsonObject = {"labels": naming.copy_labels(model.name), "annotations": annotations}
    spec: JsonObject = {"backoffLimit": ATTEMPTS, "template": {"metadata": metadata, "spec": pod}}
    name = naming.copy_job(model.name, model.weights_uri)
    return kubernetes_object("batch/v1", "Job", name, model.namespace, spec=spec)
