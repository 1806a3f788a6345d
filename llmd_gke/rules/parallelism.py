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


def default_tensor(pipeline: int | None, argv: Iterable[str], shape: Slice) -> int:
    """The tensor parallelism that uses every device of the slice, with ``argv`` as further arguments."""
    parts = written(argv)
    return max(shape.devices // ((pipeline or 1) * (parts.others if parts else 1)), 1)


def split(tensor: int | None, pipeline: int | None, argv: Sequence[str], shape: Slice) -> Iterator[Finding]:
    """Tensor times pipeline times data parallelism is the number of devices; stages are the hosts of a slice.

    ``argv``: further arguments of the server. The rule of a finding is ``pipeline-parallel``, ``data-parallel`` (in
    ``argv``) or ``tensor-parallel``.
    """
    if pipeline is not None and not shape.multi_host:
        yield Finding(
            "pipeline-parallel",
            f"pipelineParallel {pipeline} on one host: pipeline stages are for slices with several hosts",
            allowed="a pool whose slice has several hosts",
            fix="remove pipelineParallel",
        )
        return
    if pipeline not in (None, 1, shape.hosts):
        yield Finding(
            "pipeline-parallel",
            f"pipelineParallel {pipeline}: a stage is one host, and {shape.topology} has {shape.hosts} hosts",
            allowed=f"1, {shape.hosts}",
            fix=f"pipelineParallel: {shape.hosts}, or remove it",
        )
        return
    if (pipeline or 1) > 1 and shape.devices_per_chip > 1:
        yield Finding(
            "pipeline-parallel",
            f"pipelineParallel {pipeline}: the server asks Ray for {shape.devices_per_host} TPUs per stage, the number "
            f"of its devices, and Ray counts the {shape.machine.chips} chips of a host: the group may never start",
            fix="remove pipelineParallel",
            severity="warning",
        )
    if (parts := written(argv)) is None:
        return
    others = (pipeline or 1) * parts.others
    if shape.devices % others:
        yield Finding(
            "data-parallel",
            f"data parallelism {parts.others} does not divide the {devices(shape)}",
            allowed=", ".join(str(one) for one in range(1, shape.devices + 1) if shape.devices % one == 0),
            fix="change --data-parallel-size in extraArgs",
        )
    elif tensor is not None and tensor * others != shape.devices:
        used = " x ".join(
            f"{name} {size}"
            for name, size in (("pipelineParallel", pipeline or 1), ("data parallelism", parts.others))
            if size > 1
        )
        yield Finding(
            "tensor-parallel",
            f"tensorParallel {tensor}{used and f' x {used}'} does not equal the {devices(shape)}",
            allowed=str(shape.devices // others),
            fix="remove tensorParallel: the default follows the pool",
        )


def devices(shape: Slice) -> str:
    """The devices of a slice in words."""
    chips = f" ({shape.chips} chips of {shape.devices_per_chip})" if shape.devices_per_chip > 1 else ""
    return f"{shape.devices} devices{chips} of {shape.machine.name} in topology {shape.topology}"
