"""LoRA adapters of a model."""

from __future__ import annotations

from typing import Literal

from llmd_gke.settings.sections.base import Section, Word

Rank = Literal[1, 8, 16, 32, 64, 128, 256, 320, 512]
"""Values of ``--max-lora-rank`` (vllm-project/vllm ``vllm/config/lora.py`` v0.27.0, ``MaxLoRARanks``)."""


class AdapterSettings(Section):
    """A LoRA adapter: a small change of a model's weights, which the model's servers load beside them."""

    name: str
    """What clients send as ``model`` for answers with the adapter: lower-case letters, digits and hyphens."""
    uri: Word
    """Where it is: ``gs://BUCKET/PATH`` or ``pvc://CLAIM/PATH``; ``hf://OWNER/NAME`` or ``s3://BUCKET/PATH`` where the
    model's weights are downloaded from there, too."""
