"""How requests are spread over a model's replicas."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from llmd_gke.catalog import versions
from llmd_gke.settings.shapes.base import Shape


class PluginSettings(Shape):
    """One plugin of the endpoint picker: its ``type``, a scorer's ``weight``, and its own ``parameters``."""

    type: str
    weight: Annotated[int, Field(ge=0, le=1000)] | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


class SchedulerSettings(Shape):
    """The endpoint picker of a model.

    ``profile`` names weights that upstream ships (:data:`llmd_gke.catalog.scheduling.PROFILES`; without prefix caching
    the scorers that need it drop out). ``plugins``, if any, replace the profile. ``image`` is the picker's.
    """

    profile: Literal["optimized-baseline", "queue-and-prefix", "load"] = "optimized-baseline"
    plugins: tuple[PluginSettings, ...] = Field(default=(), strict=False)
    image: str = Field(default_factory=lambda: versions.image("endpoint-picker"))
