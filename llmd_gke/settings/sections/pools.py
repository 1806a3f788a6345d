"""TPU node pools."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from llmd_gke.catalog import tpu
from llmd_gke.catalog.cost import Totals, pool_cost
from llmd_gke.catalog.tpu import Family, Slice
from llmd_gke.catalog.zones import Capacity
from llmd_gke.settings.sections.base import Nodes, Shape, Word


class ReservationSettings(Shape):
    """A Compute Engine reservation. ``project``: its owner, where another project shares it. ``block``: one part."""

    name: str
    """The reservation's name."""
    project: str | None = None
    block: str | None = None

    @property
    def path(self) -> str:
        """What GKE takes as the reservation's name."""
        owner = f"projects/{self.project}/reservations/" if self.project else ""
        block = f"/reservationBlocks/{self.block}" if self.block else ""
        return f"{owner}{self.name}{block}"


class TpuPoolSettings(Shape):
    """A node pool of TPU hosts: 0..N single hosts, or one multi-host slice, which exists in whole or not at all.

    ``zone`` is the cluster's unless another zone of the region has the family. ``capacity`` says how Google gives the
    hosts; ``reservation`` belongs to capacity ``reservation``, ``max_run_hours`` (default and most: 168, seven days)
    to ``flex-start``. ``disk_gb`` is the boot disk. ``updates_need_stop``: the pool has no spare host, see
    ``docs/pools.md``.
    """

    name: str
    """Lower-case letters, digits and hyphens, at most 30 characters. Models refer to it."""
    machine_type: str
    """The kind of host; its name ends in its chips. ``topology`` is how the chips of a slice are arranged."""
    topology: str
    zone: Word | None = None
    min_nodes: Nodes = 0
    """``min_nodes`` and ``max_nodes`` bound what the autoscaler runs. 0 costs nothing while no model runs.
    ``capacity`` says how Google gives the hosts. ``disk_gb`` is the boot disk in GB."""
    max_nodes: Annotated[int, Field(ge=1, le=2048)]
    capacity: Capacity = "on-demand"
    reservation: ReservationSettings | None = None
    max_run_hours: Annotated[int, Field(ge=1, le=168)] | None = None
    updates_need_stop: bool = False
    disk_gb: Annotated[int, Field(ge=50, le=65536)] = 100

    @property
    def family(self) -> Family:
        """The TPU family. Raises ``KeyError`` for a machine type the validator would have refused."""
        family = tpu.family_of(self.machine_type)
        if family is None:
            raise KeyError(self.machine_type)
        return family

    @property
    def slice(self) -> Slice:
        """The slice its nodes form. Raises ``KeyError`` for a shape the validator would have refused."""
        shape = tpu.find_slice(self.machine_type, self.topology)
        if shape is None:
            raise KeyError(f"{self.machine_type} {self.topology}")
        return shape

    @property
    def quota(self) -> str:
        """The Compute Engine quota its hosts draw on."""
        return tpu.quota_name(self.family, preemptible=self.capacity in ("spot", "flex-start"))

    @property
    def has_workload_policy(self) -> bool:
        """Whether its slice takes a resource policy with a workload policy; ``False`` for a shape that is refused."""
        shape, family = tpu.find_slice(self.machine_type, self.topology), tpu.family_of(self.machine_type)
        return shape is not None and family is not None and shape.multi_host and family.workload_policy

    def workload_policy_name(self, cluster: str) -> str:
        """The name of the slice's resource policy. With the topology in it, a new shape is a new policy."""
        return f"{cluster}-{self.name}-{self.topology}"

    def zone_in(self, cluster_zone: str) -> str:
        """Where its hosts are, in a cluster of that TPU zone."""
        return self.zone or cluster_zone

    def cost(self, zone: str, nodes: int) -> Totals:
        """Chips and price of that many nodes of this pool."""
        return pool_cost(self.family, self.slice, zone, self.capacity, nodes)
