"""Models whose size, licence gate or TPU test state is known.

Sources: vllm-project/tpu-inference ``docs/includes/model_support.md`` @b8692ff01 (tested), Hugging Face model pages
(parameters, gated). A model that is not listed may work: settings only warn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class KnownModel:
    """``parameters`` in billions, ``gated``: needs an accepted licence and a token, ``tested`` on TPU upstream."""

    parameters: float
    gated: bool = False
    tested: bool = False


KNOWN_MODELS: Mapping[str, KnownModel] = {
    "Qwen/Qwen2.5-3B-Instruct": KnownModel(3.1),
    "Qwen/Qwen3-4B": KnownModel(4.0, tested=True),
    "Qwen/Qwen3-32B": KnownModel(32.8, tested=True),
    "Qwen/Qwen3-30B-A3B": KnownModel(30.5, tested=True),
    "meta-llama/Llama-3.1-8B-Instruct": KnownModel(8.0, gated=True, tested=True),
    "meta-llama/Llama-3.3-70B-Instruct": KnownModel(70.6, gated=True, tested=True),
    "google/gemma-3-27b-it": KnownModel(27.4, gated=True, tested=True),
}

GATED_OWNERS = frozenset({"meta-llama", "google"})
"""Owners whose current text models are behind a licence gate on Hugging Face."""


def repository_of(uri: str) -> str | None:
    """``owner/name`` of an ``hf://`` URI (a revision after ``@`` or ``:`` is cut off), else ``None``."""
    if not uri.startswith("hf://"):
        return None
    return uri.removeprefix("hf://").split("@")[0].split(":")[0].strip("/")


def known(uri: str) -> KnownModel | None:
    """What is known about the model behind a URI."""
    repository = repository_of(uri)
    return KNOWN_MODELS.get(repository) if repository else None


def is_gated(uri: str) -> bool:
    """Whether a Hugging Face token is needed: by the table, else by the owner."""
    model = known(uri)
    if model is not None:
        return model.gated
    repository = repository_of(uri)
    return repository is not None and repository.split("/")[0] in GATED_OWNERS


DEFAULT_STARTUP_MINUTES = 30
STARTUP_FLOOR_MINUTES = 20
STARTUP_CEILING_MINUTES = 180


def startup_minutes(uri: str) -> int:
    """A budget for image, weights and compilation, minutes, for the startup probe.

    15 minutes for the image and a small model's compilation; per GB of weights 10 s for the download (100 MB/s, what
    Hugging Face gives on a bad day) and 6 s for loading and the larger graphs. 30 minutes where the size is not known.
    """
    size = weights_gb(uri)
    if size is None:
        return DEFAULT_STARTUP_MINUTES
    return max(STARTUP_FLOOR_MINUTES, min(STARTUP_CEILING_MINUTES, 15 + math.ceil(size * 16 / 60)))


def weights_gb(uri: str) -> float | None:
    """Size of the weights in bfloat16 (two bytes a parameter), GB, or ``None`` where the model is not known."""
    model = known(uri)
    return model.parameters * 2 if model else None
