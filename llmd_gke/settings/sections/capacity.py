"""Capacity of a pool, as one kind or as a list in order of preference."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Discriminator, Field, Tag

from llmd_gke.catalog.zones import LONGEST_RUN_HOURS, Capacity
from llmd_gke.settings.sections.base import Nodes, Section, Word

ONE, SEVERAL = "capacity-kind", "capacity-list"
"""Pydantic's tags of both forms. They are steps in the paths of its errors, and no keys of a stack file."""


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


class CapacitySettings(Section):
    """One entry of a list of capacities: a node pool of its own, which GKE tries after those of the entries before."""

    kind: Capacity
    """Provisioning model of its hosts."""
    zone: Word | None = None
    """Zone of its hosts (default: the pool's)."""
    reservation: ReservationSettings | None = None
    """The reservation to consume; only with kind ``reservation``."""
    max_run_hours: Annotated[int, Field(ge=1, le=LONGEST_RUN_HOURS)] | None = None
    """Longest run of a host with kind ``flex-start``, in hours (default: 168, seven days)."""
    min_nodes: Nodes = 0
    """Hosts that always run (default: 0)."""
    max_nodes: Annotated[int, Field(ge=1, le=2048)] | None = None
    """Maximum number of its hosts (default: the pool's ``max_nodes``)."""
    name: str | None = None
    """Last part of the node pool's name (default: the kind, and the end of ``zone`` if that is set)."""

    @property
    def suffix(self) -> str:
        """The last part of the node pool's name."""
        where = f"-{self.zone.rpartition('-')[2]}" if self.zone else ""
        return self.name or f"{self.kind}{where}"


def _form(value: object) -> str:
    return SEVERAL if isinstance(value, list | tuple) else ONE


CapacityForm: TypeAlias = Annotated[
    Annotated[Capacity, Tag(ONE)] | Annotated[tuple[CapacitySettings, ...], Field(strict=False), Tag(SEVERAL)],
    Discriminator(_form),
]
"""One provisioning model, or several in order of preference."""
