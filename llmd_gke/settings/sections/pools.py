"""Node pools that models run on."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from llmd_gke.catalog.accelerators import (
    Accelerator,
    Family,
    Slice,
    family_of,
    find_slice,
    kind_of,
    quota_name,
    topologies,
)
from llmd_gke.catalog.cost import Totals, dearest_first, pool_cost
from llmd_gke.catalog.zones import LONGEST_RUN_HOURS, Capacity, chip_price, is_reclaimable
from llmd_gke.settings.sections.base import Nodes, Section, Word
from llmd_gke.settings.sections.capacity import CapacityForm, CapacitySettings, ReservationSettings


class PoolSettings(Section):
    """A node pool of hosts with TPUs or GPUs: zero or more single hosts, or one multi-host TPU slice, which is created
    and deleted as a whole.
    """

    name: str
    """Name of the node pool, which models refer to: lower-case letters, digits and hyphens, at most 30 characters."""
    machine_type: str
    """Machine type of GKE with TPUs, whose suffix is the number of chips (``-4t``: 4), or with GPUs."""
    topology: str | None = None
    """Arrangement of the chips in a TPU slice, e.g. ``2x2``; only of TPUs, which need it."""
    gpus: Annotated[int, Field(ge=1, le=16)] | None = None
    """GPUs of each host (default: those that the machine type has, and one T4 with ``n1-standard-``)."""
    existing: bool = False
    """The node pool exists already: the program uses it and never changes it; its other settings describe it (default:
    false)."""
    zone: Word | None = None
    """Zone of the hosts, in the cluster's region (default: the cluster's ``zone``)."""
    min_nodes: Nodes = 0
    """Minimum number of hosts (default: 0, which costs nothing while no model runs)."""
    max_nodes: Annotated[int, Field(ge=1, le=2048)]
    """Maximum number of hosts; updates need one more than the replicas (surge capacity)."""
    early_hosts: Nodes = 0
    """Hosts that start with a new pool, while the platform is installed, instead of waiting for the model's first pod
    (default: 0). An existing pool does not change."""
    capacity: CapacityForm = "on-demand"
    """Provisioning model of the hosts (default: ``on-demand``): ``spot`` may be reclaimed at any time, ``reservation``
    consumes ``reservation``, ``flex-start`` is queued and limited in time. Or a list of them in order of preference:
    GKE then takes hosts from the first entry that has any."""
    accept_reclaimable: bool = False
    """Accept a list of capacities of which Google may reclaim every host (default: false)."""
    return_to_preferred: bool = False
    """Move replicas back to an earlier entry of the list once it has hosts again, which restarts them (default:
    false)."""
    reservation: ReservationSettings | None = None
    """The reservation to consume; only with capacity ``reservation``."""
    max_run_hours: Annotated[int, Field(ge=1, le=LONGEST_RUN_HOURS)] | None = None
    """Longest run of a host with capacity ``flex-start``, in hours (default: 168, seven days)."""
    updates_need_stop: bool = False
    """Accept a pool without surge capacity: a model must be stopped for an update, see ``docs/pools.md`` (default:
    false)."""
    disk_gb: Annotated[int, Field(ge=50, le=65536)] = 100
    """Size of a host's boot disk in GB, which holds the image and downloaded weights (default: 100)."""

    @property
    def accelerator(self) -> Accelerator:
        """The accelerator of its hosts."""
        return kind_of(self.machine_type)

    @property
    def family(self) -> Family:
        """Its accelerators' family. Raises ``KeyError`` for a machine type that validation would have rejected."""
        family = family_of(self.machine_type)
        if family is None:
            raise KeyError(self.machine_type)
        return family

    @property
    def topology_or_gpus(self) -> str:
        """The topology of its slice; of GPU hosts, the number of their GPUs. Empty if it is missing."""
        shapes = topologies(self.machine_type)
        of_machine = shapes[0] if shapes and not self.accelerator.topology_label else ""
        return self.topology or str(self.gpus or of_machine)

    @property
    def slice(self) -> Slice:
        """The slice that its nodes form. Raises ``KeyError`` for a topology that validation would have rejected."""
        slice_ = find_slice(self.machine_type, self.topology_or_gpus)
        if slice_ is None:
            raise KeyError(f"{self.machine_type} {self.topology_or_gpus}")
        return slice_

    @property
    def quota(self) -> str:
        """The Compute Engine quota its hosts draw on."""
        return quota_name(self.family, preemptible=is_reclaimable(self.provisioning))

    @property
    def hosts_wait_for_pods(self) -> bool:
        """Whether GKE starts its hosts only for pending pods: a queue, or a choice between several capacities. A new
        node pool of that kind cannot start with hosts, because its creation would fail where a pod waits.
        """
        return bool(self.entries) or self.provisioning == "flex-start"

    @property
    def first_nodes(self) -> int:
        """Number of nodes that a new node pool starts with."""
        return self.min_nodes if self.hosts_wait_for_pods else max(self.min_nodes, self.early_hosts)

    @property
    def entries(self) -> tuple[CapacitySettings, ...]:
        """The capacities in order of preference; empty for a pool with one kind of capacity."""
        return self.capacity if isinstance(self.capacity, tuple) else ()

    @property
    def provisioning(self) -> Capacity:
        """The provisioning model of its hosts; of a list, the preferred one."""
        if isinstance(self.capacity, str):
            return self.capacity
        return self.capacity[0].kind if self.capacity else "on-demand"

    @property
    def compute_class(self) -> str | None:
        """The name of the ComputeClass that orders its node pools; ``None`` for a pool with one kind of capacity."""
        return f"{self.name}-capacity" if self.entries else None

    @property
    def node_pools(self) -> tuple[PoolSettings, ...]:
        """The node pools in GKE, in order of preference, each with one kind of capacity: one, or one per entry."""
        return tuple(self._of(entry) for entry in self.entries) or (self,)

    @property
    def kept_nodes(self) -> int:
        """Number of nodes that always run, in all of its node pools."""
        return sum(pool.min_nodes for pool in self.node_pools)

    @property
    def quotas(self) -> dict[str, int]:
        """Number of nodes at most by the Compute Engine quota that they draw on, with all node pools of a list."""
        nodes: dict[str, int] = {}
        for pool in self.node_pools:
            nodes[pool.quota] = min(nodes.get(pool.quota, 0) + pool.max_nodes, self.max_nodes)
        return nodes

    def _of(self, entry: CapacitySettings) -> PoolSettings:
        return self.model_copy(
            update={
                "name": f"{self.name}-{entry.suffix}",
                "zone": entry.zone or self.zone,
                "capacity": entry.kind,
                "reservation": entry.reservation,
                "max_run_hours": entry.max_run_hours,
                "min_nodes": entry.min_nodes,
                "max_nodes": entry.max_nodes or self.max_nodes,
                "early_hosts": 0,  # pods ask for them, and GKE chooses the entry
            }
        )

    @property
    def has_fixed_size(self) -> bool:
        """Whether its node pool needs no autoscaler: a slice never scaled down. ``False`` for an invalid topology."""
        slice_ = find_slice(self.machine_type, self.topology_or_gpus)
        return slice_ is not None and slice_.multi_host and self.min_nodes == self.max_nodes

    @property
    def has_workload_policy(self) -> bool:
        """Whether its slice needs a resource policy with a workload policy; ``False`` for an invalid topology."""
        slice_, family = (find_slice(self.machine_type, self.topology_or_gpus), family_of(self.machine_type))
        return slice_ is not None and family is not None and slice_.multi_host and family.workload_policy

    def workload_policy_name(self, cluster: str) -> str:
        """The name of the slice's resource policy. With the topology in it, a new shape is a new policy."""
        return f"{cluster}-{self.name}-{self.topology_or_gpus}"

    def zone_in(self, cluster_zone: str) -> str:
        """The zone of its hosts: its own, or else the cluster's TPU zone, ``cluster_zone``."""
        return self.zone or cluster_zone

    def at_most(self, zone: str, nodes: int) -> list[tuple[PoolSettings, int]]:
        """How that many nodes are spread over its node pools if they cost as much as they can."""
        pools = self.node_pools
        prices = [
            chip_price(self.family.name, one.zone_in(zone), one.provisioning, self.slice.machine) for one in pools
        ]
        # A pool with one kind of capacity is not asked for more than it has: that is another rule's finding.
        limits = [one.max_nodes for one in pools] if self.entries else [nodes]
        return list(zip(pools, dearest_first(prices, limits, nodes), strict=True))

    def cost(self, zone: str, nodes: int) -> Totals:
        """Chips and price of that many nodes of this pool; of a list of capacities, the price at most."""
        parts = [
            pool_cost(self.family, self.slice, one.zone_in(zone), one.provisioning, count)
            for one, count in self.at_most(zone, nodes)
            if count or not self.entries
        ]
        prices = [part.usd_per_hour for part in parts if part.usd_per_hour is not None]
        every_price_is_public = len(prices) == len(parts)
        return Totals(sum(part.chips for part in parts), round(sum(prices), 4) if every_price_is_public else None)
