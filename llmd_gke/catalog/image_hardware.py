"""Which hardware images of model servers are built for, by their names.

Sources: https://docs.vllm.ai/en/stable/getting_started/installation (images of vLLM), llm-d/llm-d ``docker/``
(llm-d-cuda, -xpu, -hpu, -cpu, -rocm), kserve ``config/llmisvcconfig``, https://catalog.ngc.nvidia.com (NVIDIA).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_WORD = r"(?:^|[-_/.:+0-9])(?:{})(?=$|[-_/.:+@0-9])"

HARDWARE: Mapping[str, re.Pattern[str]] = {
    "TPU": re.compile(_WORD.format("tpu")),
    "NVIDIA GPUs": re.compile(
        _WORD.format("cuda|cu1[0-9]{1,2}|nvidia|gpu|nim|tensorrt|tensorrtllm")
        + r"|(?:^|/)(?:vllm-openai|sglang|text-generation-inference|llm-d)(?=$|[:@])"
    ),
    "AMD GPUs": re.compile(_WORD.format("rocm")),
    "Intel accelerators": re.compile(_WORD.format("xpu|hpu|gaudi")),
    "AWS Neuron": re.compile(_WORD.format("neuron|neuronx")),
    "CPUs": re.compile(_WORD.format("cpu")),
}
"""Hardware, and what names of images for it contain. ``vllm/vllm-openai`` and others without a sign are for CUDA."""


def built_for(image: str) -> tuple[str, ...]:
    """The hardware that an image's reference names; nothing if it names none."""
    return tuple(name for name, sign in HARDWARE.items() if sign.search(image.lower().partition("@")[0]))
