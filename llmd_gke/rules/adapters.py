"""Rules about LoRA adapters.

Sources: kserve ``pkg/controller/v1alpha2/llmisvc/workload_lora.go`` v0.20.0 (schemes, folder of downloads);
vllm-project/tpu-inference ``tpu_inference/models/common/model_loader.py`` v0.27.0 (only the implementation ``vllm`` of
a model has a manager of adapters).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llmd_gke.catalog.accelerators import Accelerator, Slice
from llmd_gke.rules import models, names
from llmd_gke.rules.finding import Finding

RULE = "adapter"
NAME_LIMIT = 58
"""Characters of a name: with ``lora-`` it names a volume."""
MOUNTED, DOWNLOADED = ("gs://", "pvc://"), ("hf://", "s3://")
"""Schemes that the program mounts, and those that KServe's storage initializer downloads."""


def name(value: str, others: Sequence[str]) -> Iterator[Finding]:
    """It names a folder and a volume, and no other model or adapter of the servers. ``others``: their other names."""
    yield from names.label(value, "adapter name", NAME_LIMIT)
    if value in others:
        yield Finding(RULE, f"the model's servers already answer to {value}", fix="give each adapter a name of its own")


def uri(value: str, weights: str) -> Iterator[Finding]:
    """Where an adapter can be, beside ``weights``: KServe downloads adapters only together with a model."""
    if not value.startswith((*MOUNTED, *DOWNLOADED)):
        problem = f"{value!r} is no place from which servers load an adapter"
        allowed = ", ".join((*MOUNTED, *DOWNLOADED))
        yield Finding(RULE, problem, allowed=allowed, fix="copy the adapter to a bucket: gs://BUCKET/PATH")
    elif value.startswith(DOWNLOADED) and not weights.startswith(DOWNLOADED):
        problem = f"the weights are at {weights}: KServe then downloads nothing for the servers"
        yield Finding(RULE, problem, allowed=", ".join(MOUNTED), fix="copy the adapter to a bucket: gs://BUCKET/PATH")
    else:
        yield from models.weights_uri(value)


def implementation(values: Sequence[tuple[str, str | None]], kind: Accelerator) -> Iterator[Finding]:
    """The server's variables, names and values, leave the implementation of the model that can load adapters."""
    for variable, value in values:
        needed = kind.adapter_environment.get(variable, value)
        if value != needed:
            yield Finding(
                RULE,
                f"with {variable}={value} the server cannot load adapters",
                allowed=f"{variable}={needed}, which adapters set",
                fix=f"remove {variable}",
            )


def single_host(slice_: Slice) -> Iterator[Finding]:
    """Adapters across several hosts are not offered: nobody has shown a server that answers with them."""
    if slice_.multi_host:
        yield Finding(RULE, "models that span several hosts have no adapters", fix="choose a slice of one host")


def rank_alone(rank: int | None, count: int) -> Iterator[Finding]:
    """A rank belongs to adapters."""
    if rank is not None and not count:
        yield Finding(RULE, "the model has no adapters", fix="remove adapterRank, or set adapters")
