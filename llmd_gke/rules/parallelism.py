"""Rules about how a server divides its model among the devices of its slice.

Sources: vllm-project/tpu-inference @b8692ff01 ``tpu_inference/layers/common/sharding.py`` (the product of the
parallelisms is the number of devices), ``executors/ray_distributed_executor.py`` (stages across hosts);
vllm-project/vllm ``vllm/config/parallel.py`` @v0.27.0 (each parallelism is 1 by default);
AI-Hypercomputer/tpu-recipes ``inference/ironwood/vLLM`` @c8cfe2f (tensor 2 on one chip of tpu7x, 8 on four).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import NamedTuple

from llmd_gke.catalog.accelerators import Slice
from llmd_gke.rules import vllm_arguments
from llmd_gke.rules.finding import Finding

TENSOR, PIPELINE = "--tensor-parallel-size", "--pipeline-parallel-size"
OTHERS = ("--data-parallel-size", "--prefill-context-parallel-size")
SEVERAL_SERVERS = (
    "--data-parallel-rank", "--data-parallel-start-rank", "--data-parallel-size-local", "--data-parallel-external-lb",
    "--data-parallel-hybrid-lb", "--data-parallel-multi-port-external-lb", "--nnodes", "--headless", "--config",
)  # fmt: skip
"""Arguments with which one server uses only its part of the product, or that can set any other argument."""


class Parallelism(NamedTuple):
    """The parallelisms among a server's arguments."""

    tensor: int | None
    """``None``: not written."""
    pipeline: int
    others: int
    """Data times prefill context parallelism."""


def written(argv: Iterable[str]) -> Parallelism | None:
    """The parallelisms in a command line; ``None`` where its text does not tell them."""
    sizes: dict[str, str] = {}
    for argument in vllm_arguments.read(argv):
        strategy = argument.name.startswith("--additional-config") and " ".join((argument.key, *argument.values))
        if argument.name in SEVERAL_SERVERS or (strategy and re.search(r"_parallelism|device_indexes", strategy)):
            return None
        sizes[argument.name] = argument.value
    known = {name: sizes[name] for name in (TENSOR, PIPELINE, *OTHERS) if name in sizes}
    if not all(size.isdecimal() and int(size) for size in known.values()):
        return None
    numbers = {name: int(size) for name, size in known.items()}
    return Parallelism(numbers.get(TENSOR), numbers.get(PIPELINE, 1), prod(numbers.get(name, 1) for name in OTHERS))


def default_tensor(pipeline: int | None, argv: Iterable[str], slice_: Slice) -> int:
    """The tensor parallelism that uses every device of the slice, with ``argv`` as further arguments."""
    parts = written(argv)
    return max(slice_.devices // ((pipeline or 1) * (parts.others if parts else 1)), 1)


def split(tensor: int | None, pipeline: int | None, argv: Sequence[str], slice_: Slice) -> Iterator[Finding]:
    """Tensor times pipeline times data parallelism is the number of devices; stages are the hosts of a slice.

    ``argv``: further arguments of the server. The rule of a finding is ``pipeline-parallel``, ``data-parallel`` (in
    ``argv``) or ``tensor-parallel``.
    """
    if pipeline is not None and not slice_.multi_host:
        yield Finding(
            "pipeline-parallel",
            f"pipelineParallel {pipeline} on one host: pipeline stages are for slices with several hosts",
            allowed="a pool whose slice has several hosts",
            fix="remove pipelineParallel",
        )
        return
    if pipeline not in (None, 1, slice_.hosts):
        yield Finding(
            "pipeline-parallel",
            f"pipelineParallel {pipeline}: a stage is one host, and {slice_.topology} has {slice_.hosts} hosts",
            allowed=f"1, {slice_.hosts}",
            fix=f"pipelineParallel: {slice_.hosts}, or remove it",
        )
        return
    if (pipeline or 1) > 1 and slice_.devices_per_chip > 1:
        yield Finding(
            "pipeline-parallel",
            f"pipelineParallel {pipeline}: the server asks Ray for {slice_.devices_per_host} TPUs per stage, the "
            f"number of its devices, and Ray counts the {slice_.machine.chips} chips of a host: the group may never "
            "start",
            fix="remove pipelineParallel",
            severity="warning",
        )
    if (parts := written(argv)) is None:
        return
    others = (pipeline or 1) * parts.others
    if slice_.devices % others:
        yield Finding(
            "data-parallel",
            f"data parallelism {parts.others} does not divide the {devices(slice_)}",
            allowed=", ".join(str(one) for one in range(1, slice_.devices + 1) if slice_.devices % one == 0),
            fix="change --data-parallel-size in extraArgs",
        )
    elif tensor is not None and tensor * others != slice_.devices:
        used = " x ".join(
            f"{name} {size}"
            for name, size in (("pipelineParallel", pipeline or 1), ("data parallelism", parts.others))
            if size > 1
        )
        yield Finding(
            "tensor-parallel",
            f"tensorParallel {tensor}{used and f' x {used}'} does not equal the {devices(slice_)}",
            allowed=str(slice_.devices // others),
            fix="remove tensorParallel: the default follows the pool",
        )


def devices(slice_: Slice) -> str:
    """The devices of a slice in words."""
    chips = f" ({slice_.chips} chips of {slice_.devices_per_chip})" if slice_.devices_per_chip > 1 else ""
    return f"{slice_.devices} devices{chips} of {slice_.machine.name} in topology {slice_.topology}"
