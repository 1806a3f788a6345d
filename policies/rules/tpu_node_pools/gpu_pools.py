"""Node pools of hosts with GPUs."""

from __future__ import annotations

from llmd_gke.rules import gpu
from policies.rules.kinds import NODE_POOL
from policies.rules.rule import Rule, on_inputs

GPUS = "https://cloud.google.com/kubernetes-engine/docs/how-to/gpus"

NODE_POOL_RULE = Rule(
    name="gpu-node-pool",
    title="GPU pools have whole GPUs that their machine type has, and a driver",
    why="GKE refuses a type or number of GPUs that the machine does not have. Without a driver no node offers "
    "`nvidia.com/gpu`, and pods wait forever. Shared and partitioned GPUs do not suit model servers, "
    "each of which takes most of the memory.",
    sources=(GPUS, "https://cloud.google.com/compute/docs/accelerator-optimized-machines"),
    kinds=(NODE_POOL,),
    check_object=on_inputs(gpu.node_pool),
)

ZONE = Rule(
    name="gpu-zone",
    title="Google offers the GPU in the pool's zones",
    why="Few zones have every GPU; a pool in another one is refused, or never gets a host.",
    sources=("https://cloud.google.com/compute/docs/gpus/gpu-regions-zones",),
    kinds=(NODE_POOL,),
    check_object=on_inputs(gpu.zone),
)
