"""Rules about GPUs: node pools as pulumi-gcp describes them (``container.NodePool``), and pods on their nodes.

Sources: https://cloud.google.com/kubernetes-engine/docs/how-to/gpus (types, counts, drivers, sharing),
https://cloud.google.com/compute/docs/gpus/gpu-regions-zones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from llmd_gke.catalog import accelerators
from llmd_gke.catalog.accelerators import NVIDIA
from llmd_gke.rules import models, pods, slices, vllm_arguments
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.node_pools import accelerator, pool_zones


def node_pool(pool: Input) -> Iterator[Finding]:
    """The machines have the GPUs that the pool asks for, whole, and GKE installs their driver."""
    if accelerator(pool) is not NVIDIA:
        return
    config = pool.get("nodeConfig")
    machine, guests = config.get("machineType").text() or "", list(config.get("guestAccelerators").each())
    family = accelerators.family_of(machine)
    if family is None:
        kinds = ", ".join(dict.fromkeys(one.name.rpartition("-")[0] for kin in NVIDIA.families for one in kin.machines))
        yield Finding("gpu-node-pool", f"{machine}: no host with GPUs is known by that name", allowed=kinds)
        return
    for guest in guests:
        yield from _guest(guest, machine, family)
    if not guests and not pool.notes.unknown:
        yield Finding("gpu-node-pool", f"{machine} without guestAccelerators: GKE installs no driver", fix="add them")


def _guest(guest: Input, machine: str, family: accelerators.Family) -> Iterator[Finding]:
    sort, count, allowed = guest.get("type").text(), guest.get("count").integer(), family.topologies[machine]
    if sort is not None and sort != family.label_value:
        problem = f"{guest.path}.type: {machine} has {family.label_value}, not {sort}"
        yield Finding("gpu-node-pool", problem, allowed=family.label_value, fix=f"type: {family.label_value}")
    elif count is not None and str(count) not in allowed:
        problem = f"{guest.path}.count: {machine} has {' or '.join(allowed)} {family.name}, not {count}"
        yield Finding("gpu-node-pool", problem, allowed=", ".join(allowed), fix=f"count: {allowed[0]}")
    for key in ("gpuSharingConfig", "gpuPartitionSize"):
        if guest.get(key).present():
            problem = f"{guest.path}.{key}: servers would share a GPU, each of which takes most of its memory"
            yield Finding("gpu-node-pool", problem, allowed="whole GPUs", fix=f"remove {key}")
    driver = guest.get("gpuDriverInstallationConfig", "gpuDriverVersion")
    if driver.text() == "INSTALLATION_DISABLED" or (driver.value is None and not guest.notes.unknown):
        problem = f"{driver.path}: GKE installs no driver, and no pod finds a GPU"
        fix = f"set gpuDriverInstallationConfig: {{gpuDriverVersion: {NVIDIA.driver}}}"
        yield Finding("gpu-node-pool", problem, allowed="DEFAULT, LATEST", fix=fix)


def zone(pool: Input) -> Iterator[Finding]:
    """Google offers the GPU in every zone of the pool; a zone that is not in the catalogue is left to it."""
    if accelerator(pool) is NVIDIA:
        for name in pool_zones(pool):
            for finding in slices.zone(pool.get("nodeConfig", "machineType").text() or "", name):
                if finding.severity == "error":
                    yield replace(finding, rule="gpu-zone")


def precision(pod: Input) -> Iterator[Finding]:
    """The server's data types are ones that its GPU computes in."""
    family = NVIDIA.family_by_label(pod.get("nodeSelector", NVIDIA.family_label).text())
    if family is None:
        return
    for container in pods.containers(pod):
        argv = pods.arguments(container)
        findings = list(models.eight_bits("", argv, family))
        for argument in vllm_arguments.read(argv):
            if argument.name == "--dtype":
                findings += models.precision(argument.value, family)
        for finding in findings:
            yield replace(finding, rule="gpu-precision", problem=f"{container.path}: {finding.problem}")
