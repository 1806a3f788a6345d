"""How the number of a model's replicas follows its load."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from llmd_gke.catalog.scaling import (
    LONGEST_IDLE_SECONDS,
    LONGEST_PERIOD_SECONDS,
    LONGEST_WINDOW_SECONDS,
    SHORTEST_IDLE_SECONDS,
    Source,
)
from llmd_gke.rules import schedule
from llmd_gke.settings.sections.base import Section


class ScheduleSettings(Section):
    """Hours within which a model runs; outside of them it has no server once the last request has ended."""

    time_zone: str
    """Time zone of the hours: a name of the IANA database, such as ``Europe/Amsterdam``."""
    hours: tuple[str, ...] = Field(strict=False)
    """Days and hours such as ``Mon-Fri 08:00-18:00``, none of which overlap; 24:00 is the end of a day."""

    def is_open(self, now: datetime) -> bool:
        """Whether a time, which has a time zone, is within the hours."""
        return schedule.is_open(self.time_zone, self.hours, now)


class ScalingSettings(Section):
    """When replicas are added and removed, between ``minReplicas`` and ``maxReplicas`` of the model."""

    waiting_per_replica: Annotated[int, Field(ge=1, le=100_000)] = 5
    """Waiting requests per replica above which a replica is added (default: 5)."""
    running_per_replica: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Running requests per replica above which a replica is added (default: 80 % of ``maxNumSeqs``; without
    ``maxNumSeqs`` only waiting requests count)."""
    scale_up_every_seconds: Annotated[int, Field(ge=15, le=LONGEST_PERIOD_SECONDS)] = 900
    """Shortest time between two added replicas in seconds (default: 900, about one start of a TPU host with its
    model), so that one burst does not order every host of the pool."""
    scale_down_after_seconds: Annotated[int, Field(ge=60, le=LONGEST_WINDOW_SECONDS)] = 1800
    """Time in seconds for which fewer replicas must be enough before one is removed (default: 1800)."""
    idle_after_seconds: Annotated[int, Field(ge=SHORTEST_IDLE_SECONDS, le=LONGEST_IDLE_SECONDS)] | None = None
    """Time in seconds without a request after which the last servers are removed; the next request starts
    ``minReplicas`` of them, and is answered with status 503 (default: never). Beside a ``schedule`` only outside of its
    hours. Only with KEDA."""
    source: Source | None = None
    """Who reads the load: ``gke``, Google's managed adapter, or ``keda``, which this program then installs (default:
    ``gke`` if the cluster's ``minVersion`` has it, otherwise ``keda``)."""
