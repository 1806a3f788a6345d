"""How requests are distributed over a model's replicas."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from llmd_gke.catalog import versions
from llmd_gke.settings.sections.base import Section, Word


class PluginSettings(Section):
    """One plugin of the endpoint picker."""

    type: str
    """Name of the plugin, e.g. ``queue-scorer``."""
    weight: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Weight of a scorer (default: the picker's own, 1)."""
    parameters: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """The plugin's own parameters (default: none)."""


class SaturationSettings(Section):
    """When the endpoint picker considers a replica saturated; omitted values are the picker's own.

    While all replicas are saturated, requests with negative priority (``sheddable``) get status 429; others are not
    held back. If callers of a front door have priorities, all requests wait in the picker instead.
    """

    queue_depth_threshold: Annotated[int, Field(ge=1, le=10000)] | None = None
    """Number of requests waiting in a replica (the picker's own default: 5)."""
    kv_cache_util_threshold: Annotated[float, Field(gt=0, le=1)] | None = None
    """Fraction of the KV cache in use, 0 to 1 (the picker's own default: 0.8)."""
    metrics_staleness_milliseconds: Annotated[int, Field(ge=1, le=60000)] | None = None
    """Age of metrics in milliseconds from which a replica counts as saturated (the picker's own default: 200)."""
    headroom: Annotated[float, Field(ge=0, le=10)] | None = None
    """How far above the thresholds a replica may still be chosen, as a fraction of them (the picker's own default:
    0)."""
    max_concurrency: Annotated[int, Field(ge=1, le=100000)] | None = None
    """Number of requests in flight per replica, counted by the picker when it sends a request and when the answer ends;
    instead of the thresholds above, which are read from the replicas' metrics (llm-d/llm-d-router v0.9.0
    ``concurrency-detector``; default: the model's ``maxNumSeqs`` if callers of a front door have priorities, otherwise
    the thresholds)."""

    @property
    def thresholds(self) -> dict[str, JsonValue]:
        """The thresholds on metrics that are set, by the names of the settings."""
        given = self.model_dump(by_alias=True, exclude_none=True)
        return {name: value for name, value in given.items() if name != "maxConcurrency"}


class SchedulerSettings(Section):
    """The endpoint picker of a model, which distributes requests over its replicas."""

    profile: Literal["optimized-baseline", "queue-and-prefix", "load"] = "optimized-baseline"
    """Weights of the scorers (default: ``optimized-baseline``, KServe's and llm-d's: queue 2, KV cache 2, prefix 3,
    no-hit LRU 2); ``queue-and-prefix``: queue 2, prefix 3; ``load``: queue 2, KV cache 2."""
    plugins: tuple[PluginSettings, ...] = Field(default=(), strict=False)
    """Plugins that replace the profile (default: those of ``profile``)."""
    saturation: SaturationSettings | None = None
    """When a replica is saturated (default: the picker's own thresholds)."""
    image: Word = Field(default_factory=lambda: versions.image("endpoint-picker"))
    """Container image of the endpoint picker, by tag or digest (default: the tested one)."""
    tokenizer_image: Word | None = None
    """Container image of the tokenizer sidecar of the picker, by tag or digest (default: the one in KServe's
    preset)."""
