"""How requests are spread over a model's replicas."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from llmd_gke.catalog import versions
from llmd_gke.settings.sections.base import Shape, Word


class PluginSettings(Shape):
    """One plugin of the endpoint picker: its ``type``, a scorer's ``weight``, and its own ``parameters``."""

    type: str
    weight: Annotated[int, Field(ge=0, le=1000)] | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


class SaturationSettings(Shape):
    """When the endpoint picker calls a replica full; what is left out has the picker's own value.

    While all replicas are full, requests of negative priority (``sheddable``) get status 429; others are not held back.
    """

    queue_depth_threshold: Annotated[int, Field(ge=1, le=10000)] | None = None
    """Requests that wait in a replica (the picker's own: 5)."""
    kv_cache_util_threshold: Annotated[float, Field(gt=0, le=1)] | None = None
    """Part of the KV cache in use (the picker's own: 0.8)."""
    metrics_staleness_milliseconds: Annotated[int, Field(ge=1, le=60000)] | None = None
    """Older metrics count as full (the picker's own: 200)."""
    headroom: Annotated[float, Field(ge=0, le=10)] | None = None
    """How far beyond the thresholds one replica may still be chosen, as a part of them (the picker's own: 0)."""


class SchedulerSettings(Shape):
    """The endpoint picker of a model.

    ``profile`` names weights that upstream ships (:data:`llmd_gke.catalog.scheduling.PROFILES`; without prefix caching
    the scorers that need it drop out). ``plugins``, if any, replace the profile. ``saturation`` says when a replica is
    full. ``image`` is the picker's.
    """

    profile: Literal["optimized-baseline", "queue-and-prefix", "load"] = "optimized-baseline"
    plugins: tuple[PluginSettings, ...] = Field(default=(), strict=False)
    saturation: SaturationSettings | None = None
    image: Word = Field(default_factory=lambda: versions.image("endpoint-picker"))
