"""Models whose size, licence requirement or TPU test state is known.

Sources: vllm-project/tpu-inference ``docs/includes/model_support.md`` @b8692ff01 (tested), Hugging Face model pages
(parameters, gated), https://ai.google.dev/gemma (licence of Gemma 4). A model that is not listed may work: settings
only warn.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class KnownModel:
    """``parameters`` in billions, ``gated``: needs an accepted licence and a token, ``tested`` on TPU upstream.

    ``context``: longest context in tokens, ``max_position_embeddings`` of its ``config.json``; 0 if not known.
    """

    parameters: float
    gated: bool = False
    tested: bool = False
    context: int = 0


KNOWN_MODELS: Mapping[str, KnownModel] = {
    "Qwen/Qwen2.5-3B-Instruct": KnownModel(3.1, context=32_768),
    "Qwen/Qwen3-4B": KnownModel(4.0, tested=True, context=40_960),
    "Qwen/Qwen3-32B": KnownModel(32.8, tested=True, context=40_960),
    "Qwen/Qwen3-30B-A3B": KnownModel(30.5, tested=True, context=40_960),
    "meta-llama/Llama-3.1-8B-Instruct": KnownModel(8.0, gated=True, tested=True, context=131_072),
    "meta-llama/Llama-3.3-70B-Instruct": KnownModel(70.6, gated=True, tested=True, context=131_072),
    "google/gemma-3-27b-it": KnownModel(27.4, gated=True, tested=True, context=131_072),
    "google/gemma-4-26B-A4B-it": KnownModel(26.0, tested=True),
    "google/gemma-4-31B-it": KnownModel(31.0, tested=True),
    "Qwen/Qwen3-Coder-480B-A35B-Instruct": KnownModel(480.0, tested=True),
    "Qwen/Qwen3.5-397B-A17B": KnownModel(397.0, tested=True),
}

GATED_OWNERS = frozenset({"meta-llama", "google"})
"""Owners whose text models require an accepted licence on Hugging Face, but for :data:`OPEN_FAMILIES`."""

OPEN_FAMILIES = ("google/gemma-4-",)
"""Prefixes of names that need no token: Gemma 4 has the Apache 2.0 licence, earlier versions have Google's own."""


def repository_of(uri: str) -> str | None:
    """``owner/name`` of an ``hf://`` URI (a revision after ``@`` or ``:`` is cut off), else ``None``."""
    if not uri.startswith("hf://"):
        return None
    return uri.removeprefix("hf://").split("@")[0].split(":")[0].strip("/")


DEFAULT_REVISION = "main"


def copy_of(uri: str, cache: str) -> str:
    """The folder below ``cache`` (``gs://BUCKET/PATH``) for a copy of ``hf://OWNER/NAME:REVISION``: one for each
    revision, so that a copy never mixes two (kserve ``kserve_storage.py`` ``_download_hf``: the revision follows a
    colon).
    """
    revision = uri.partition("://")[2].partition(":")[2] or DEFAULT_REVISION
    return f"{cache.rstrip('/')}/{repository_of(uri)}/{revision}"


def bucket_of(uri: str) -> str | None:
    """The bucket of a ``gs://`` URI."""
    return uri.removeprefix("gs://").split("/")[0] if uri.startswith("gs://") else None


def lookup(uri: str) -> KnownModel | None:
    """What is known about the model behind a URI."""
    repository = repository_of(uri)
    return KNOWN_MODELS.get(repository) if repository else None


def is_gated(uri: str) -> bool:
    """Whether a Hugging Face token is needed: by the table, else by the owner."""
    model = lookup(uri)
    if model is not None:
        return model.gated
    repository = repository_of(uri)
    if repository is None or repository.startswith(OPEN_FAMILIES):
        return False
    return repository.split("/")[0] in GATED_OWNERS


DEFAULT_STARTUP_MINUTES = 30
STARTUP_FLOOR_MINUTES = 20
STARTUP_CEILING_MINUTES = 180


def startup_minutes(uri: str) -> int:
    """Minutes that the startup probe allows for image pull, download of the weights and compilation.

    15 minutes for the image and a small model's compilation; per GB of weights 10 s for the download (100 MB/s, a slow
    day of Hugging Face) and 6 s for loading and the larger graphs. 30 minutes if the size is not known.
    """
    size = weights_gb(uri)
    if size is None:
        return DEFAULT_STARTUP_MINUTES
    return max(STARTUP_FLOOR_MINUTES, min(STARTUP_CEILING_MINUTES, 15 + math.ceil(size * 16 / 60)))


BILLIONS = re.compile(r"(?:^|[-_])(?:(\d+)x)?(\d+(?:\.\d+)?)B(?:[-_]|$)", re.I)
"""The number of parameters in a name: ``Qwen3-32B``, ``gemma-4-26B-A4B-it`` (26 billion in all, 4 of them active),
``Mixtral-8x7B``."""

BYTES = ((re.compile(r"(?:^|[-_])(?:FP8|INT8|W8A8)", re.I), 1.0), (re.compile(r"(?:AWQ|INT4|W4A16|FP4)", re.I), 0.6))
"""Bytes per parameter of quantized weights, by patterns of names; 4-bit weights come with scales. All others have 2
(bfloat16)."""


_HEADS: Mapping[int, str] = {
    12: r"Qwen2\.5-(?:Coder-|Math-)?1\.5B|Distill-Qwen-1\.5B",
    14: r"Qwen2\.5-(?:Coder-)?0\.5B",
    16: r"Qwen2\.5-(?:Coder-|VL-)?3B|Qwen3-(?:0\.6|1\.7)B|gemma-3-12b",
    24: r"Llama-3\.2-3B|Phi-4-mini",
    28: r"Qwen2\.5-(?:Coder-|Math-|VL-)?7B|Qwen2-(?:VL-)?7B|Distill-Qwen-7B",
    32: r"Qwen3-(?:VL-)?[48]B|Qwen3-(?:Coder-|VL-)?30B-A3B|Llama-3(?:\.1)?-8B|Llama-3\.2-1B"
    r"|Distill-Llama-8B|gemma-3-27b",
    40: r"Qwen2\.5-(?:Coder-|VL-)?(?:14|32)B|Qwen3-14B|Distill-Qwen-(?:14|32)B|QwQ-32B|(?:^|/)phi-4(?=$|-(?!mini))",
    64: r"Qwen2\.5-(?:VL-)?72B|Qwen3-(?:VL-)?32B|Qwen3-235B|Llama-3(?:\.[13])?-70B|Distill-Llama-70B"
    r"|gpt-oss-(?:20|120)b",
    96: r"Qwen3-Coder-480B",
    128: r"Llama-3\.1-405B",
}
HEADS = {number: re.compile(f"(?:^|[-_/])(?:{names})", re.I) for number, names in _HEADS.items()}
"""Attention heads, by names of models (``num_attention_heads`` of their ``config.json``): also of their fine-tunes and
copies in other formats."""


def attention_heads(uri: str) -> int | None:
    """Attention heads of the model, by its name; ``None`` for others."""
    repository = repository_of(uri) or ""
    return next((number for number, names in HEADS.items() if names.search(repository)), None)


_FORMATS = {
    "bitsandbytes": r"bnb|bitsandbytes|nf4",
    "gptq": r"gptq",
    "gguf": r"gguf",
    "exl2": r"exl[23]",
    "mlx": r"mlx",
    "hqq": r"hqq",
    "aqlm": r"aqlm",
}
FORMATS = {method: re.compile(rf"(?:^|[-_./])(?:{sign})(?=$|[-_./\d])", re.I) for method, sign in _FORMATS.items()}
"""vLLM's names of formats of weights that not every accelerator loads, by signs in the names of models."""


def quantization(uri: str) -> str | None:
    """The format of a model's weights, if its name has the sign of one; ``None`` for others."""
    repository = repository_of(uri) or ""
    return next((method for method, sign in FORMATS.items() if sign.search(repository)), None)


@dataclass(frozen=True)
class Size:
    """Size of weights in GB. ``is_exact``: from the table; otherwise estimated from the model's name."""

    gb: float
    is_exact: bool

    def __str__(self) -> str:
        """The size as written in messages, such as ``61 GB``."""
        return f"about {self.gb:.0f} GB" + ("" if self.is_exact else " (by its name)")


def size(uri: str) -> Size | None:
    """Size of the weights by the table, else by the model's name; ``None`` if neither has it, as for a bucket."""
    if (model := lookup(uri)) is not None:
        return Size(model.parameters * 2, is_exact=True)
    name = (repository_of(uri) or "").rpartition("/")[2]
    match = BILLIONS.search(name)
    if match is None:
        return None
    experts, billions = match.groups()
    each = next((per for sign, per in BYTES if sign.search(name)), 2.0)
    return Size(int(experts or 1) * float(billions) * each, is_exact=False)


def weights_gb(uri: str) -> float | None:
    """Size of the weights in GB, from the table or estimated; ``None`` if neither is possible."""
    estimate = size(uri)
    return estimate.gb if estimate else None
