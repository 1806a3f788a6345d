"""Rules about models: where the weights are, whether they fit, and the server's image.

Source of the URI schemes: kserve ``workload_storage.go``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from llmd_gke.catalog import accelerators, models, versions
from llmd_gke.catalog import image_hardware as image_hardware_facts
from llmd_gke.catalog.accelerators import DEFAULT, Accelerator, Family
from llmd_gke.catalog.zones import chip_price
from llmd_gke.rules import vllm_arguments
from llmd_gke.rules.buckets import bucket_uri
from llmd_gke.rules.finding import Finding
from llmd_gke.wording import counted

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
        # The tag alone is not repeated: it may be the password of a URL, which is recognizable only within the URL.
        why = "its tag can change, and nightly tags are deleted after a while" if tag else "it has no tag"
        yield Finding(
            "image-tag",
            f"image {value!r} is not pinned: {why}",
            allowed="a release tag or a digest (@sha256:…)",
            fix="pin a release tag",
        )


def image_hardware(value: str, kind: Accelerator = DEFAULT) -> Iterator[Finding]:
    """The image is not built for other hardware than the accelerator."""
    if (built := image_hardware_facts.built_for(value)) and kind.hardware not in built:
        own = versions.pinned_image(kind.image)
        yield Finding(
            "image-hardware",
            f"image {value!r} is built for {' and '.join(built)}, and has no backend for {kind.name}",
            allowed=f"an image for {kind.name}",
            fix=f"use {own.home}:{own.tag}, or remove image",
        )


def tensor_heads(model_uri: str, tensor: int) -> Iterator[Finding]:
    """The tensor parallelism divides the attention heads, or vLLM exits (its ``verify_with_parallel_config``)."""
    heads = models.attention_heads(model_uri)
    if heads is not None and heads % tensor:
        fits = max(number for number in range(1, tensor) if heads % number == 0 and tensor % number == 0)
        yield Finding(
            "model-heads",
            f"the {heads} attention heads of {model_uri} cannot be divided among {tensor} devices: the server exits",
            allowed=", ".join(str(number) for number in range(1, heads + 1) if heads % number == 0),
            fix=f"tensorParallel: {fits} and --data-parallel-size={tensor // fits} in extraArgs, or a pool with "
            f"{counted(fits, 'device')} per slice",
        )


def weights_format(model_uri: str, kind: Accelerator = DEFAULT) -> Iterator[Finding]:
    """The format that the model's name says is one that the accelerator loads."""
    method = models.quantization(model_uri)
    if method is not None and method not in kind.quantizations:
        yield Finding(
            "model-format",
            f"by its name, the weights of {model_uri} are in the format {method}, which does not load on {kind.name}",
            allowed=f"unquantized weights, or {', '.join(sorted(kind.quantizations))}",
            fix="use the model's unquantized weights, or a copy in one of these formats",
        )


def weights(model_uri: str, machine_type: str, topology: str) -> Iterator[Finding]:
    """The weights leave room for the KV cache: more than 90 % of the slice's HBM is an error, more than 70 % a warning.

    A size that is only estimated from the model's name causes only a warning.
    """
    slice_ = accelerators.find_slice(machine_type, topology)
    family = accelerators.family_of(machine_type)
    size = models.size(model_uri)
    if slice_ is None or family is None or size is None:
        return
    memory = slice_.chips * family.hbm_gb
    if size.gb > 0.9 * memory:
        yield Finding(
            "model-size",
            f"the weights of {model_uri} take {size}, but {family.shown(slice_)} has {memory} GB of HBM",
            allowed=f"weights up to about {0.9 * memory:.0f} GB",
            fix=f"use a pool that they fit ({holding(size.gb)}), or a smaller or quantized model",
            severity="error" if size.is_exact else "warning",
        )
    elif size.gb > 0.7 * memory:
        yield Finding(
            "model-size",
            f"the weights of {model_uri} take {size} of the {memory} GB of HBM, which leaves little for the KV cache",
            fix="reduce maxModelLen and maxNumSeqs, or use more chips",
            severity="warning",
        )


def holding(gigabytes: float, fits: Callable[[Family], bool] = lambda _: True) -> str:
    """The smallest single host of up to four families whose memory holds weights of that size, cheapest first.

    By the lowest list price of an on-demand host in any region; those without a price come last, by their memory.
    ``fits``: what else a family needs.
    """
    ranked: list[tuple[float, int, str]] = []
    for family in filter(fits, accelerators.FAMILIES):
        hosts = [one for one in family.slices() if not one.multi_host and one.chips * family.hbm_gb * 0.7 >= gigabytes]
        if hosts:
            least = min(hosts, key=lambda one: (one.chips, one.machine.vcpus))
            prices = [chip_price(family.name, f"{region}-a", "on-demand", least.machine) for region in family.prices]
            usd = min((price for price in prices if price is not None), default=math.inf) * least.chips
            ranked.append((usd, least.chips * family.hbm_gb, family.shown(least)))
    return ", ".join(shown for *_, shown in sorted(ranked)[:4]) or "none on one host"


def precision(value: str, family: Family) -> Iterator[Finding]:
    """The chips compute in the data type of the setting or of ``--dtype``: T4 has no bfloat16, TPUs have no float16.

    Source: vllm-project/vllm ``vllm/platforms/cuda.py`` (``check_if_supports_dtype``: the server exits).
    """
    name = {"half": "float16"}.get(value, value)
    if name in ("bfloat16", "float16") and name not in family.dtypes:
        yield Finding(
            "model-precision",
            f"{family.name} does not compute in {name}",
            allowed=f"auto, {', '.join(family.dtypes)}",
            fix=f"use auto, or a pool of {holding(0, lambda other: name in other.dtypes)}",
        )


def eight_bits(model_uri: str, arguments: Iterable[str], family: Family) -> Iterator[Finding]:
    """No FP8 KV cache where the chips have no FP8. FP8 weights load, but are widened: that is slower, and a warning."""
    if family.fp8:
        return
    others = holding(0, lambda other: other.fp8 and other.dimensions == family.dimensions)
    for argument in vllm_arguments.read(arguments):
        if argument.name == "--kv-cache-dtype" and argument.value.startswith("fp8"):
            yield Finding(
                "model-precision",
                f"{argument.shown} {argument.value}: {family.name} does not compute in FP8",
                fix=f"remove {argument.written}, or use a pool of {others}",
            )
    if re.search(r"(?:^|[-_/])fp8", models.repository_of(model_uri) or "", re.IGNORECASE):
        yield Finding(
            "model-precision",
            f"by its name, the weights of {model_uri} are in FP8, which {family.name} does not compute in: the server "
            "widens them in every step",
            fix=f"use a pool of {others}",
            severity="warning",
        )


def known_to_run(model_uri: str, kind: Accelerator = DEFAULT) -> Iterator[Finding]:
    """Upstream tests the model on the accelerator; an untested one may work, so this is a warning."""
    repository = models.repository_of(model_uri)
    model = models.lookup(model_uri)
    if kind.tests_models and repository is not None and (model is None or not model.tested):
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
    """VLLM rejects a ``--max-model-len`` above the model's own limit, unless an argument changes that limit.

    Source: vllm-project/vllm ``vllm/config/model.py``, ``_get_and_verify_max_len``.
    """
    model = models.lookup(model_uri)
    limit = model.context if model and model.context else LONGEST_CONTEXT
    if value <= limit or any(one.name in vllm_arguments.CHANGE_CONTEXT for one in vllm_arguments.read(arguments)):
        return
    whose = model_uri if limit < LONGEST_CONTEXT else "any published model"
    yield Finding(
        "model-context",
        f"the server rejects {value:,} tokens: the context of {whose} is at most {limit:,}",
        allowed=f"1 to {limit}",
        fix="remove maxModelLen: the default is the model's own limit",
    )


LONGEST_CONTEXT = 10_485_760
"""The longest context of a published model, in tokens (Llama 4 Scout)."""
