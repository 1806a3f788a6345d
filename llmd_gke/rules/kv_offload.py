"""Rules about KV cache in the host's memory, from which a prefix is loaded instead of computed again.

Sources: llm-d/llm-d ``guides/tiered-prefix-cache`` (connectors, memory of pods); vllm-project/vllm
``vllm/config/cache.py`` (``kv_offloading_size``, GiB); vllm-project/tpu-inference ``tpu_inference/envs.py``
(``TPU_OFFLOAD_NUM_CPU_CHUNKS``).
"""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog.accelerators import Accelerator, Slice
from llmd_gke.rules.finding import Finding

RULE = "kv-offload"


def most_gb(slice_: Slice) -> int:
    """GB that a host has for it: half is the server's, and an eighth is ``/dev/shm``."""
    return slice_.machine.memory_gb * 3 // 8


def memory(gigabytes: int, slice_: Slice) -> Iterator[Finding]:
    """The host has that much memory beside the server's own. A group of several hosts is not offered."""
    if slice_.multi_host:
        yield Finding(RULE, "a slice of several hosts does not offload its KV cache", fix="remove kvOffloadGb")
    elif gigabytes > most_gb(slice_):
        problem = f"{slice_.machine.name} has {slice_.machine.memory_gb} GB, of which the server needs five eighths"
        yield Finding(RULE, problem, allowed=f"1 to {most_gb(slice_)}", fix=f"kvOffloadGb: {most_gb(slice_)}")


def blocks(count: int | None, gigabytes: int | None, kind: Accelerator) -> Iterator[Finding]:
    """Servers on TPU count blocks, whose size depends on the model; others count bytes."""
    needed = kind.kv_offload_blocks is not None and gigabytes is not None
    if needed and count is None:
        problem = f"servers on {kind.name} count blocks of KV cache, and kvOffloadGb is the memory for them"
        yield Finding(RULE, problem, fix="set kvOffloadBlocks (docs/models.md)")
    elif count is not None and not needed:
        problem = "it belongs to kvOffloadGb" if gigabytes is None else f"servers on {kind.name} count bytes"
        yield Finding(RULE, problem, fix="remove kvOffloadBlocks")
