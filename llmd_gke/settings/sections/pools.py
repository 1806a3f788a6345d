"""TPU node pools."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from llmd_gke.catalog.accelerators import Accelerator, Family, Slice, accelerator_of, family_of, find_slice, quota_name
from llmd_gke.catalog.cost import Totals, pool_cost
from llmd_gke.catalog.zones import Capacity
from llmd_gke.settings.sections.base import Nodes, Section, Word


class ReservationSettings(Section):
    """A Compute Engine reservation of TPU hosts."""

    name: str
    """Name of the reservation."""
    project: str | None = None
    """ID of the project that owns the reservation (default: the stack's own project)."""
    block: str | None = None
    """Reservation block to consume (default: the whole reservation)."""

    @property
    def path(self) -> str:
        """The reservation as GKE's node pools name it, including its block if one is set."""
        owner = f"projects/{self.project}/reservations/" if self.project else ""
        block = f"/reservationBlocks/{self.block}" if self.block else ""
        return f"{owner}{self.name}{block}"


class TpuPoolSettings(Section):
    """A node pool of TPU hosts: zero or more single hosts, or one multi-host slice, which is created and deleted as a
    whole.
    """

    name: str
    """Name of the node pool, which models refer to: lower-case letters, digits and hyphens, at most 30 characters."""
    machine_type: str
    """GKE TPU machine type; the suffix is the number of chips (``-4t``: 4)."""
    topology: str
    """Arrangement of the chips in a slice, e.g. ``2x2``."""
    zone: Word | None = None
    """Zone of the hosts, in the cluster's region (default: the cluster's ``zone``)."""
    min_nodes: Nodes = 0
    """Minimum number of hosts (default: 0, which costs nothing while no model runs)."""
    max_nodes: Annotated[int, Field(ge=1, le=2048)]
    """Maximum number of hosts; updates need one more than the replicas (surge capacity)."""
    capacity: Capacity = "on-demand"
    """Provisioning model of the hosts (default: ``on-demand``): ``spot`` may be reclaimed at any time, ``reservation``
    consumes ``reservation``, ``flex-start`` is queued and limited in time."""
    reservation: ReservationSettings | None = None
    """The reservation to consume; only with capacity ``reservation``."""
    max_run_hours: Annotated[int, Field(ge=1, le=168)] | None = None
    """Longest run of a host with capacity ``flex-start``, in hours (default: 168, seven days)."""
    updates_need_stop: bool = False
    """Accept a pool without surge capacity: a model must be stopped for an update, see ``docs/pools.md`` (default:
    false)."""
    disk_gb: Annotated[int, Field(ge=50, le=65536)] = 100
    """Size of a host's boot disk in GB, which holds the image and downloaded weights (default: 100)."""

    @property
    def accelerator(self) -> Accelerator:
        """The accelerator of its hosts. Raises ``KeyError`` for a machine type that validation would have rejected."""
        kind = accelerator_of(self.machine_type)
        if kind is None:
            raise KeyError(self.machine_type)
        return kind

    @property
    def family(self) -> Family:
        """The TPU family of its hosts. Raises ``KeyError`` for a machine type that validation would have rejected."""
        family = family_of(self.machine_type)
        if family is None:
            raise KeyError(self.machine_type)
        return family

    @property
    def slice(self) -> Slice:
        """The slice that its nodes form. Raises ``KeyError`` for a topology that validation would have rejected."""
        shape = find_slice(self.machine_type, self.topology)
        if shape is None:
            raise KeyError(f"{self.machine_type} {self.topology}")
        return shape

    @property
    def quota(self) -> str:
        """The Compute Engine quota its hosts draw on."""
        return quota_name(self.family, preemptible=self.capacity in ("spot", "flex-start"))

    @property
    def has_workload_policy(self) -> bool:
        """Whether its slice needs a resource policy with a workload policy; ``False`` for an invalid topology."""
        shape, family = (
            find_slice(self.machine_type, self.topology),
            family_of(self.machine_type),
        )
        return shape is not None and family is not None and shape.multi_host and family.workload_policy

    def workload_policy_name(self, cluster: str) -> str:
        """The name of the slice's resource policy. With the topology in it, a new shape is a new policy."""
        return f"{cluster}-{self.name}-{self.topology}"

    def zone_in(self, cluster_zone: str) -> str:
        """The zone of its hosts: its own, or else the cluster's TPU zone, ``cluster_zone``."""
        return self.zone or cluster_zone

    def cost(self, zone: str, nodes: int) -> Totals:
        """Chips and price of that many nodes of this pool."""
        return pool_cost(self.family, self.slice, zone, self.capacity, nodes)


AcceleratorPool: TypeAlias = TpuPoolSettings
"""A node pool that models run on, whatever its accelerator: a union as soon as there is a second kind of pool."""
