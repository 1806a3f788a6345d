"""Rules about models and the server's arguments.

Sources: kserve ``workload_storage.go`` (URI schemes); vllm-project/tpu-inference
``tpu_inference/platforms/tpu_platform.py`` @b8692ff01 (arguments and quantization methods).
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from llmd_gke.catalog import accelerators, models
from llmd_gke.catalog.accelerators import DEFAULT, Accelerator
from llmd_gke.rules.finding import Finding

URI_SCHEMES = ("hf", "oci", "pvc", "s3")

PINNED_TAG = re.compile(
    r"(?:.*[-_.])?v?\d+(?:\.\d+)+(?:[-_.+a-z].*)?"  # a version of at least two numbers
    r"|(?:.*[-_.])?\d{6,}(?:[-_.].*)?"  # a date or a build number
    r"|(?:.*[-_.])?(?=[0-9a-f]*\d)[0-9a-f]{7,64}(?:[-_.].*)?"  # a commit
)
MOVING_TAG = re.compile(
    r"(?:^|[-_.])(?:latest|nightly|head|snapshot|rolling)(?:$|[-_.])|^\d+\.\d+-(?:dev|edge|stable)$"
)
DIGEST = re.compile(r".+@sha(?:256|512):[0-9a-f]+")

OWNED_ARGUMENTS: Mapping[str, str] = {
    "--port": "the port is 8000: KServe's Service, the InferencePool and the health checks rely on it",
    "--tensor-parallel-size": "set tensorParallel",
    "--served-model-name": "set servedModelName",
    "--max-model-len": "set maxModelLen",
    "--max-num-seqs": "set maxNumSeqs",
    "--max-num-batched-tokens": "set maxNumBatchedTokens",
    "--dtype": "set dtype",
    "--enable-prefix-caching": "set prefixCaching",
    "--no-enable-prefix-caching": "set prefixCaching",
    "--ssl-certfile": "backends speak plain HTTP behind GKE's Gateway",
    "--ssl-keyfile": "backends speak plain HTTP behind GKE's Gateway",
    "--api-key": "an argument is readable in the pod: put authentication at the Gateway",
    "--host": "the server listens where KServe's probes and the InferencePool look for it",
    "--pipeline-parallel-size": "set pipelineParallel",
    "--hf-token": "an argument is readable in the pod: use the secret llmd-gke:hfToken",
}
"""Arguments that a typed setting (or nobody) writes."""

TWO_IN_ONE = re.compile(r"(--?[A-Za-z][\w-]*)\s+(?=\S)")
"""An argument and its value in one entry of a list, which no shell splits."""

SHORT_ARGUMENTS: Mapping[str, str] = {
    "-tp": "--tensor-parallel-size",
    "-pp": "--pipeline-parallel-size",
    "-q": "--quantization",
}
"""vLLM's short names for arguments that rules are about (vllm-project/vllm ``vllm/engine/arg_utils.py``)."""


BUCKET_NAME = re.compile(r"[a-z0-9][-_.a-z0-9]{1,61}[a-z0-9]")
"""Without the longer names with dots that domain owners may have (https://cloud.google.com/storage/docs/buckets)."""


def bucket(name: str) -> Iterator[Finding]:
    """A bucket's name."""
    if not BUCKET_NAME.fullmatch(name):
        yield Finding(
            "bucket-name",
            f"{name!r} is not the name of a bucket",
            allowed="3 to 63 lower-case letters, digits, dashes, underscores and dots; a letter or digit at both ends",
            fix="for example my-project-weights",
        )


def bucket_uri(value: str) -> Iterator[Finding]:
    """``gs://BUCKET`` or ``gs://BUCKET/PATH``."""
    name = value.removeprefix("gs://").split("/")[0]
    if not value.startswith("gs://") or not name:
        yield Finding("bucket-uri", f"{value!r} names no bucket", "gs://BUCKET or gs://BUCKET/PATH", "gs://my-bucket")
    else:
        yield from bucket(name)
    if ".." in value.split("/"):
        problem = f"{value!r} leaves its bucket: `..` is no folder of Cloud Storage"
        yield Finding("bucket-uri", problem, "gs://BUCKET/PATH", "write the path without `..`")
    if "," in value:
        yield Finding("bucket-uri", f"{value!r} has a comma, which ends a mount option", fix="rename the folder")


def shared_cache(owner: str, value: str, others: Mapping[str, str]) -> Iterator[Finding]:
    """No model of another namespace writes the same compile cache, or one inside the other.

    ``others`` maps ``NAMESPACE/NAME`` of models that were named before to their caches.
    """
    place = f"{value.rstrip('/')}/"
    for other, used in others.items():
        theirs = f"{used.rstrip('/')}/"
        apart = other.partition("/")[0] != owner.partition("/")[0]
        if apart and (place.startswith(theirs) or theirs.startswith(place)):
            yield Finding(
                "shared-cache",
                f"{owner} and {other} write the same compile cache: each can change the graphs that the other loads",
                allowed="a path of its own for each namespace",
                fix=f"{value.rstrip('/')}/{owner}",
                severity="warning",
            )


def weights_uri(value: str) -> Iterator[Finding]:
    """As :func:`uri`, and ``gs://``, which is mounted past KServe."""
    if value.startswith("gs://"):
        yield from bucket_uri(value)
        return
    for finding in uri(value):
        schemes = ", ".join(f"{known}://" for known in (*URI_SCHEMES, "gs"))
        yield replace(finding, allowed=schemes) if finding.allowed.startswith("hf://,") else finding


def disk(model_uri: str, disk_gb: int) -> Iterator[Finding]:
    """Downloaded weights fit on the node's boot disk, beside the system and the server's image."""
    size = models.size(model_uri)
    if size is not None and size.gb + RESERVED_DISK_GB > disk_gb:
        yield Finding(
            "model-disk",
            f"the weights of {model_uri} take {size}, system and image about {RESERVED_DISK_GB} GB, and "
            f"the pool's disks have {disk_gb} GB",
            allowed=f"diskGb of at least {math.ceil(size.gb) + RESERVED_DISK_GB}",
            fix="enlarge diskGb of the pool, or serve the weights from a bucket (gs://)",
            severity="error" if size.is_exact else "warning",
        )


RESERVED_DISK_GB = 40


def uri(value: str) -> Iterator[Finding]:
    """KServe loads ``hf``, ``oci``, ``pvc`` and ``s3``; ``gs://`` ends in "unsupported schema in model URI"."""
    scheme, _, rest = value.partition("://")
    if not rest or scheme not in URI_SCHEMES:
        hint = "KServe refuses gs://; serve from a bucket through a PVC" if scheme == "gs" else "hf://OWNER/NAME"
        yield Finding(
            "model-uri",
            f"{value!r} is not a model URI that KServe loads",
            allowed=", ".join(f"{known}://" for known in URI_SCHEMES),
            fix=hint,
        )
    elif scheme != "oci" and "@" in rest.split("/")[0]:
        yield Finding(
            "model-uri",
            "the URI holds a user or a key in front of `@`, which every reader of the cluster would see",
            allowed=f"{scheme}://BUCKET/PATH" if scheme == "s3" else f"{scheme}://…",
            fix="remove it, and let KServe take the key from a Secret of the service account",
        )
    elif scheme == "hf" and models.repository_of(value) is not None and value.count("/") != 3:
        yield Finding("model-uri", f"{value!r} names no model", allowed="hf://OWNER/NAME", fix="hf://Qwen/Qwen3-4B")


def image(value: str) -> Iterator[Finding]:
    """The server image is pinned by a tag that does not move (it has a version, a date or a commit), or by digest."""
    if DIGEST.fullmatch(value):
        return
    name, _, tag = value.partition("@")[0].rpartition(":")
    if not name or "/" in tag:
        tag = ""
    if not PINNED_TAG.fullmatch(tag.lower()) or MOVING_TAG.search(tag.lower()):
        yield Finding(
            "image-tag",
            f"image {value!r} is not pinned: {tag or 'no tag'} moves, and nightly tags are pruned",
            allowed="a release tag or a digest (@sha256:…)",
            fix="pin a release tag",
        )


def tensor_parallel(value: int, machine_type: str, topology: str) -> Iterator[Finding]:
    """On a single host the server uses all chips: a TPU pod must request every chip of its node."""
    shape = accelerators.find_slice(machine_type, topology)
    if shape is not None and not shape.multi_host and value != shape.chips:
        yield Finding(
            "tensor-parallel",
            f"tensorParallel {value} does not use the {shape.chips} chips of {machine_type} in {topology}",
            allowed=str(shape.chips),
            fix="leave tensorParallel out: it follows the pool",
        )


def weights(model_uri: str, machine_type: str, topology: str) -> Iterator[Finding]:
    """The weights leave room for the KV cache: more than 90 % of the slice's HBM cannot work, 70 % is tight.

    A size that is only estimated from the model's name refuses nothing: it warns.
    """
    shape = accelerators.find_slice(machine_type, topology)
    family = accelerators.family_of(machine_type)
    size = models.size(model_uri)
    if shape is None or family is None or size is None:
        return
    memory = shape.chips * family.hbm_gb
    if size.gb > 0.9 * memory:
        yield Finding(
            "model-size",
            f"the weights of {model_uri} take {size}, {topology} of {machine_type} has {memory} GB of HBM",
            allowed=f"weights up to about {0.9 * memory:.0f} GB",
            fix="use a pool with more chips per slice, or a smaller or quantized model",
            severity="error" if size.is_exact else "warning",
        )
    elif size.gb > 0.7 * memory:
        yield Finding(
            "model-size",
            f"the weights of {model_uri} take {size} of {memory} GB of HBM: little is left for the KV cache",
            fix="lower maxModelLen and maxNumSeqs, or use more chips",
            severity="warning",
        )


def known_to_run(model_uri: str, kind: Accelerator = DEFAULT) -> Iterator[Finding]:
    """Whether upstream tests the model on the accelerator; an untested one may well work."""
    repository = models.repository_of(model_uri)
    model = models.lookup(model_uri)
    if repository is not None and (model is None or not model.tested):
        unchecked = "" if models.size(model_uri) else "; its size is not known, so nobody checks whether it fits"
        yield Finding(
            "model-untested",
            f"{repository} is not in the list of models that vLLM tests on {kind.name}{unchecked}",
            fix="Qwen/Qwen3-4B is a tested model for one chip",
            severity="warning",
        )


COMMIT = re.compile(r"[0-9a-f]{40}")


def revision(model_uri: str) -> Iterator[Finding]:
    """Weights of Hugging Face are named by a commit: a branch is whatever its owner makes of it."""
    found = model_uri.partition("://")[2].partition(":")[2]
    if model_uri.startswith("hf://") and not COMMIT.fullmatch(found):
        yield Finding(
            "model-revision",
            f"the weights are those of {f'the revision {found}' if found else 'the main branch'} at each pod's start: "
            "their owner can change them",
            allowed="hf://OWNER/NAME:COMMIT, with the 40 digits of a commit",
            fix=f"{model_uri.partition('://')[0]}://{models.repository_of(model_uri)}:COMMIT",
            severity="warning",
        )


def context(model_uri: str, value: int, arguments: Iterable[str]) -> Iterator[Finding]:
    """VLLM refuses a ``--max-model-len`` above the model's own limit, unless an argument changes that limit.

    Source: vllm-project/vllm ``vllm/config/model.py``, ``_get_and_verify_max_len``.
    """
    model = models.lookup(model_uri)
    limit = model.context if model and model.context else LONGEST_CONTEXT
    if value <= limit or any(word.startswith(CHANGE_CONTEXT) for word in arguments):
        return
    whose = model_uri if limit < LONGEST_CONTEXT else "any published model"
    yield Finding(
        "model-context",
        f"the server refuses {value:,} tokens: the context of {whose} has at most {limit:,}",
        allowed=f"1 to {limit}",
        fix="leave maxModelLen out: the server takes the model's own limit",
    )


LONGEST_CONTEXT = 10_485_760
"""Tokens: the longest that a published model has (Llama 4 Scout)."""

CHANGE_CONTEXT = ("--hf-overrides", "--hf_overrides", "--rope-scaling", "--rope_scaling")


def _misspelt(name: str, kind: Accelerator) -> Iterator[Finding]:
    meant = difflib.get_close_matches(name, (*OWNED_ARGUMENTS, *kind.refused_arguments), n=1, cutoff=0.92)
    if name.startswith("--") and meant:
        advice = OWNED_ARGUMENTS.get(meant[0], f"leave {meant[0]} out")
        yield Finding(
            kind.rule("server-argument"),
            f"{name} looks like {meant[0]}, misspelt: the server exits on an argument that it does not know",
            fix=advice,
            severity="warning",
        )


def server_arguments(
    arguments: Iterable[str], kind: Accelerator = DEFAULT, *, refuse_owned: bool = True
) -> Iterator[Finding]:
    """No argument that makes the server exit on the accelerator, or (``refuse_owned``) that a typed setting writes."""
    words = list(arguments)
    for position, word in enumerate(words):
        name, _, value = word.partition("=")
        name = SHORT_ARGUMENTS.get(name, name).replace("_", "-")
        value = value or (words[position + 1] if position + 1 < len(words) else "")
        if spaced := TWO_IN_ONE.match(word):
            yield Finding(
                kind.rule("server-argument"),
                f"{spaced[1]} and its value are one entry: the server takes the whole for the name of an argument",
                allowed=f"{spaced[1]}=VALUE, or two entries",
                fix=f"write {spaced[1]}={word[spaced.end() :].strip()}",
            )
        elif name in kind.refused_arguments:
            reason = kind.refused_arguments[name]
            yield Finding(kind.rule("server-argument"), f"{name}: {reason}", fix=f"leave {name} out")
        elif refuse_owned and name in OWNED_ARGUMENTS:
            reason = OWNED_ARGUMENTS[name]
            yield Finding(
                kind.rule("server-argument"), f"{name} is not given by hand: {reason}", fix=f"leave {name} out"
            )
        elif name == "--quantization" and value not in kind.quantizations:
            yield Finding(
                kind.rule("server-argument"),
                f"--quantization {value} does not run on {kind.name}",
                allowed=", ".join(sorted(kind.quantizations)),
                fix=f"choose a quantization that {kind.name} knows, or leave it out",
            )
        elif name == "--kv-transfer-config" and not any(f'"{known}"' in value for known in kind.kv_connectors):
            yield Finding(
                kind.rule("server-argument"),
                f"--kv-transfer-config names a connector that does not run on {kind.name}",
                allowed=", ".join(sorted(kind.kv_connectors)),
                fix="leave --kv-transfer-config out",
            )
        elif refuse_owned:
            yield from _misspelt(name, kind)
