"""Rules about where the hosts of a node pool come from, and how many there are.

Facts: :mod:`llmd_gke.catalog.zones`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from llmd_gke.catalog import accelerators, zones
from llmd_gke.catalog.accelerators import Slice
from llmd_gke.catalog.zones import Capacity
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.slices import listed
from llmd_gke.wording import counted


def capacity(capacity: Capacity, machine_type: str, zone: str) -> Iterator[Finding]:
    """Flex-start is offered in the zone; few zones have it (europe-west4-a does not)."""
    family = accelerators.family_of(machine_type)
    if family is None or capacity != "flex-start":
        return
    offered = zones.FLEX_START_ZONES.get(family.name, frozenset[str]())
    if zone not in offered:
        yield Finding(
            "tpu-capacity",
            f"{family.name} has no flex-start capacity in {zone}",
            allowed=f"flex-start in {listed(offered)}" if offered else "on-demand, spot or reservation",
            fix="use capacity on-demand, spot or reservation, or another zone",
        )


def capacity_settings(capacity: Capacity, reservation: str | None, max_run_hours: int | None) -> Iterator[Finding]:
    """A reservation is set with capacity ``reservation`` only, ``max_run_hours`` with ``flex-start`` only.

    The modes exclude each other (GoogleCloudPlatform/cluster-toolkit ``modules/compute/gke-node-pool/main.tf``
    @10470803).
    """
    if capacity == "reservation" and not reservation:
        yield Finding(
            "tpu-reservation",
            "capacity reservation requires the name of a reservation",
            allowed="reservation: {name: NAME}, and project if another project shares it",
            fix="set reservation, or use capacity on-demand",
        )
    if capacity != "reservation" and reservation:
        yield Finding(
            "tpu-reservation",
            f"reservation {reservation} cannot be combined with capacity {capacity}",
            allowed="capacity: reservation",
            fix="set capacity to reservation, or remove the reservation",
        )
    if capacity != "flex-start" and max_run_hours is not None:
        yield Finding(
            "tpu-flex-start",
            f"maxRunHours {max_run_hours} with capacity {capacity}: only flex-start hosts have a limited run time",
            allowed="capacity: flex-start",
            fix="remove maxRunHours",
        )


def early_hosts(count: int, slice_: Slice | None, maximum: int) -> Iterator[Finding]:
    """A new pool starts with single hosts, at most its maximum. A slice starts as a whole, by ``minNodes``."""
    if count > maximum:
        yield Finding(
            "tpu-early-hosts",
            f"{count} hosts start with a pool of at most {maximum}",
            allowed=f"earlyHosts from 0 to maxNodes ({maximum})",
            fix=f"earlyHosts: {maximum}",
        )
    if count and slice_ is not None and slice_.multi_host:
        yield Finding(
            "tpu-early-hosts",
            f"earlyHosts with a slice of {slice_.hosts} hosts, which start together",
            allowed="earlyHosts in pools of single hosts",
            fix=f"remove earlyHosts, or keep the slice: minNodes: {slice_.hosts}",
        )


def useful_early_hosts(pool: str, count: int, *, kept: int, replicas: int) -> Iterator[Finding]:
    """Hosts that start early are more than those that always run (``kept``), and models need all of them.

    For a pool of single hosts; ``replicas``: at most, of all models on it that are not stopped.
    """
    if not count:
        return
    if not replicas:
        problem = f"no model on pool {pool} runs, so its early hosts have no use"
        fix = f"remove earlyHosts, or run a model on pool {pool}"
    elif count <= kept:
        problem = f"earlyHosts {count} has no effect: pool {pool} starts with {counted(kept, 'host')}, by minNodes"
        fix = "remove earlyHosts"
    elif count > replicas:
        problem = f"{counted(count, 'host')} start early, but the models on pool {pool} need {replicas} at most"
        fix = f"earlyHosts: {replicas}"
    else:
        return
    yield Finding("tpu-early-hosts", problem, fix=fix, severity="warning")


def flex_start_slice(capacity: Capacity, machine_type: str, topology: str) -> Iterator[Finding]:
    """Flex-start is used for single hosts, as Google recommends (https://cloud.google.com/kubernetes-engine/docs/concepts/dws)."""
    slice_ = accelerators.find_slice(machine_type, topology)
    if capacity == "flex-start" and slice_ is not None and slice_.multi_host:
        yield Finding(
            "tpu-flex-start",
            f"flex-start has to find all {slice_.hosts} hosts of a {topology} slice at once; Google recommends it for "
            "single hosts",
            fix="use a reservation for multi-host slices, or expect to wait",
            severity="warning",
        )


def flex_start_size(capacity: Capacity, *, fixed: bool, allowed: str, fix: str) -> Iterator[Finding]:
    """A node pool of flex-start hosts has an autoscaler; ``fixed``: it has a number of nodes instead.

    Cluster Toolkit refuses that, too (``modules/compute/gke-node-pool/main.tf`` @10470803).
    """
    if capacity == "flex-start" and fixed:
        yield Finding("tpu-capacity", "flex-start does not support a fixed number of nodes", allowed=allowed, fix=fix)


def surge_pods(replicas: int) -> int:
    """Number of extra pods that a rolling update starts: Kubernetes' default of 25 % of ``replicas``, rounded up."""
    return ceil(replicas / 4)


def surge_capacity(pool: str, maximum: int, replicas: Iterable[int]) -> Iterator[Finding]:
    """The pool has surge capacity: a spare host for the pod that an update of a model adds.

    KServe has no setting for the rollout strategy. The pod of the default surge of 25 % stays Pending forever if all
    hosts are in use, while the LLMInferenceService is still Ready.
    """
    counts = list(replicas)
    if not counts:
        return
    needed = sum(counts) + max(surge_pods(count) for count in counts)
    if sum(counts) > maximum:
        yield Finding(
            "tpu-pool-size",
            f"the models on pool {pool} need {counted(sum(counts), 'host')}, but it has at most {maximum}",
            allowed=f"maxNodes >= {needed} ({sum(counts)} for replicas, {needed - sum(counts)} for updates)",
            fix=f"set maxNodes of pool {pool} to {needed}, or use fewer replicas",
        )
    elif needed > maximum:
        yield Finding(
            "tpu-update-room",
            f"pool {pool} has {counted(maximum, 'host')} for {counted(sum(counts), 'replica')}: an update starts "
            f"{counted(needed - sum(counts), 'more pod')}, which stays Pending forever, although the service reports "
            "Ready",
            allowed=f"maxNodes >= {needed}",
            fix=f"set maxNodes of pool {pool} to {needed}, or, without quota for that, updatesNeedStop: true (to "
            "update a model you then stop it, change it and start it)",
        )
