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
    "--port": "the port is always 8000: KServe's Service, the InferencePool and the health checks rely on it",
    "--tensor-parallel-size": "set tensorParallel",
    "--served-model-name": "set servedModelName",
    "--max-model-len": "set maxModelLen",
    "--max-num-seqs": "set maxNumSeqs",
    "--max-num-batched-tokens": "set maxNumBatchedTokens",
    "--dtype": "set dtype",
    "--enable-prefix-caching": "set prefixCaching",
    "--no-enable-prefix-caching": "set prefixCaching",
    "--ssl-certfile": "behind GKE's Gateway the servers use plain HTTP",
    "--ssl-keyfile": "behind GKE's Gateway the servers use plain HTTP",
    "--api-key": "arguments are readable in the pod's specification: authenticate clients in front of the Gateway",
    "--host": "KServe's probes and the InferencePool expect the server's default address",
    "--pipeline-parallel-size": "set pipelineParallel",
    "--hf-token": "arguments are readable in the pod's specification: use the secret llmd-gke:hfToken",
}
"""Arguments that are set by a typed setting, or not allowed at all."""

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
        problem = f"{value!r} contains `..`, which Cloud Storage does not resolve"
        yield Finding("bucket-uri", problem, "gs://BUCKET/PATH", "remove `..` from the path")
    if "," in value:
        yield Finding(
            "bucket-uri",
            f"{value!r} contains a comma, which separates mount options",
            fix="use a folder whose name has no comma",
        )


def shared_cache(owner: str, value: str, others: Mapping[str, str]) -> Iterator[Finding]:
    """No model of another namespace writes the same compile cache, or one inside the other.

    ``others`` maps ``NAMESPACE/NAME`` of models that were named before to their caches.
    """
    folder = f"{value.rstrip('/')}/"
    for other, used in others.items():
        theirs = f"{used.rstrip('/')}/"
        apart = other.partition("/")[0] != owner.partition("/")[0]
        if apart and (folder.startswith(theirs) or theirs.startswith(folder)):
            yield Finding(
                "shared-cache",
                f"{owner} and {other} share a compile cache: each can change the compiled graphs that the other loads",
                allowed="a separate path for each namespace",
                fix=f"{value.rstrip('/')}/{owner}",
                severity="warning",
            )


def weights_uri(value: str) -> Iterator[Finding]:
    """As :func:`uri`, and also ``gs://``, which is mounted without KServe."""
    if value.startswith("gs://"):
        yield from bucket_uri(value)
        return
    for finding in uri(value):
        schemes = ", ".join(f"{scheme}://" for scheme in (*URI_SCHEMES, "gs"))
        yield replace(finding, allowed=schemes) if finding.allowed.startswith("hf://,") else finding


def disk(model_uri: str, disk_gb: int) -> Iterator[Finding]:
    """Downloaded weights fit on the node's boot disk, together with the system and the server's image."""
    size = models.size(model_uri)
    if size is not None and size.gb + RESERVED_DISK_GB > disk_gb:
        yield Finding(
            "model-disk",
            f"the weights of {model_uri} take {size}, the system and the image about {RESERVED_DISK_GB} GB, but "
            f"the pool's disks have only {disk_gb} GB",
            allowed=f"diskGb of at least {math.ceil(size.gb) + RESERVED_DISK_GB}",
            fix="increase diskGb of the pool, or serve the weights from a bucket (gs://)",
            severity="error" if size.is_exact else "warning",
        )


RESERVED_DISK_GB = 40


def uri(value: str) -> Iterator[Finding]:
    """KServe loads ``hf``, ``oci``, ``pvc`` and ``s3``; ``gs://`` ends in "unsupported schema in model URI"."""
    scheme, _, rest = value.partition("://")
    if not rest or scheme not in URI_SCHEMES:
        hint = "KServe rejects gs://; serve from a bucket through a PVC" if scheme == "gs" else "hf://OWNER/NAME"
        yield Finding(
            "model-uri",
            f"{value!r} is not a model URI that KServe can load",
            allowed=", ".join(f"{uri_scheme}://" for uri_scheme in URI_SCHEMES),
            fix=hint,
        )
    elif scheme != "oci" and "@" in rest.split("/")[0]:
        yield Finding(
            "model-uri",
            "the URI contains a user or a key before `@`, which anyone who can read the cluster's objects would see",
            allowed=f"{scheme}://BUCKET/PATH" if scheme == "s3" else f"{scheme}://…",
            fix="remove it, and store the key in a Secret of the service account, where KServe finds it",
        )
    elif scheme == "hf" and models.repository_of(value) is not None and value.count("/") != 3:
        yield Finding(
            "model-uri", f"{value!r} does not name a model", allowed="hf://OWNER/NAME", fix="hf://Qwen/Qwen3-4B"
        )


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
            f"image {value!r} is not pinned: {tag or 'no tag'} can change, and nightly tags are deleted after a while",
            allowed="a release tag or a digest (@sha256:…)",
            fix="pin a release tag",
        )


def tensor_parallel(value: int, machine_type: str, topology: str) -> Iterator[Finding]:
    """On a single host the server uses all chips: a TPU pod must request every chip of its node."""
    shape = accelerators.find_slice(machine_type, topology)
    if shape is not None and not shape.multi_host and value != shape.chips:
        yield Finding(
            "tensor-parallel",
            f"tensorParallel {value} does not equal the {shape.chips} chips of {machine_type} in topology {topology}",
            allowed=str(shape.chips),
            fix="remove tensorParallel: the default follows the pool",
        )


def weights(model_uri: str, machine_type: str, topology: str) -> Iterator[Finding]:
    """The weights leave room for the KV cache: more than 90 % of the slice's HBM cannot work, 70 % is tight.

    A size that is only estimated from the model's name causes only a warning.
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
            f"the weights of {model_uri} take {size}, but topology {topology} of {machine_type} has {memory} GB of HBM",
            allowed=f"weights up to about {0.9 * memory:.0f} GB",
            fix="use a pool with more chips per slice, or a smaller or quantized model",
            severity="error" if size.is_exact else "warning",
        )
    elif size.gb > 0.7 * memory:
        yield Finding(
            "model-size",
            f"the weights of {model_uri} take {size} of the {memory} GB of HBM, which leaves little for the KV cache",
            fix="reduce maxModelLen and maxNumSeqs, or use more chips",
            severity="warning",
        )


def known_to_run(model_uri: str, kind: Accelerator = DEFAULT) -> Iterator[Finding]:
    """Whether upstream tests the model on the accelerator; an untested one may well work."""
    repository = models.repository_of(model_uri)
    model = models.lookup(model_uri)
    if repository is not None and (model is None or not model.tested):
        unchecked = (
            ""
            if models.size(model_uri)
            else "; its size is unknown, so whether it fits in HBM and on disk was not checked"
        )
        yield Finding(
            "model-untested",
            f"{repository} is not among the models that vLLM tests on {kind.name}{unchecked}",
            fix="Qwen/Qwen3-4B is a tested model for one chip",
            severity="warning",
        )


COMMIT = re.compile(r"[0-9a-f]{40}")


def revision(model_uri: str) -> Iterator[Finding]:
    """Weights of Hugging Face are pinned to a commit: the owner can change a branch at any time."""
    tag = model_uri.partition("://")[2].partition(":")[2]
    if model_uri.startswith("hf://") and not COMMIT.fullmatch(tag):
        yield Finding(
            "model-revision",
            f"each pod loads {f'the revision {tag}' if tag else 'the main branch'} as it is when the pod "
            "starts: its owner can change the weights",
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
        f"the server rejects {value:,} tokens: the context of {whose} is at most {limit:,}",
        allowed=f"1 to {limit}",
        fix="remove maxModelLen: the default is the model's own limit",
    )


LONGEST_CONTEXT = 10_485_760
"""Tokens: the longest that a published model has (Llama 4 Scout)."""

CHANGE_CONTEXT = ("--hf-overrides", "--hf_overrides", "--rope-scaling", "--rope_scaling")


def _misspelt(name: str, kind: Accelerator) -> Iterator[Finding]:
    meant = difflib.get_close_matches(name, (*OWNED_ARGUMENTS, *kind.refused_arguments), n=1, cutoff=0.92)
    if name.startswith("--") and meant:
        advice = OWNED_ARGUMENTS.get(meant[0], f"remove {meant[0]}")
        yield Finding(
            kind.rule("server-argument"),
            f"{name} looks like a misspelling of {meant[0]}: the server exits on unknown arguments",
            fix=advice,
            severity="warning",
        )


def server_arguments(
    arguments: Iterable[str], kind: Accelerator = DEFAULT, *, refuse_owned: bool = True
) -> Iterator[Finding]:
    """No argument that makes the server exit on the accelerator, or (``refuse_owned``) that a typed setting writes."""
    argv = list(arguments)
    for position, word in enumerate(argv):
        name, _, value = word.partition("=")
        name = SHORT_ARGUMENTS.get(name, name).replace("_", "-")
        value = value or (argv[position + 1] if position + 1 < len(argv) else "")
        if spaced := TWO_IN_ONE.match(word):
            yield Finding(
                kind.rule("server-argument"),
                f"{spaced[1]} and its value are in one entry: the server treats the whole entry as the name of an "
                "argument",
                allowed=f"{spaced[1]}=VALUE, or two entries",
                fix=f"write {spaced[1]}={word[spaced.end() :].strip()}",
            )
        elif name in kind.refused_arguments:
            reason = kind.refused_arguments[name]
            yield Finding(kind.rule("server-argument"), f"{name}: {reason}", fix=f"remove {name}")
        elif refuse_owned and name in OWNED_ARGUMENTS:
            reason = OWNED_ARGUMENTS[name]
            yield Finding(kind.rule("server-argument"), f"{name} must not be set here: {reason}", fix=f"remove {name}")
        elif name == "--quantization" and value not in kind.quantizations:
            yield Finding(
                kind.rule("server-argument"),
                f"--quantization {value} does not run on {kind.name}",
                allowed=", ".join(sorted(kind.quantizations)),
                fix=f"use a quantization that {kind.name} supports, or remove the argument",
            )
        elif name == "--kv-transfer-config" and not any(f'"{connector}"' in value for connector in kind.kv_connectors):
            yield Finding(
                kind.rule("server-argument"),
                f"--kv-transfer-config names a connector that does not run on {kind.name}",
                allowed=", ".join(sorted(kind.kv_connectors)),
                fix="remove --kv-transfer-config",
            )
        elif refuse_owned:
            yield from _misspelt(name, kind)
