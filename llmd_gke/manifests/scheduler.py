"""The endpoint picker of a model: its containers, and its plugins with their weights."""

from __future__ import annotations

from typing import cast

from llmd_gke.catalog import front_door, scheduling
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.settings import FrontDoorSettings, ModelSettings
from llmd_gke.settings.sections.scheduler import PluginSettings, SaturationSettings, SchedulerSettings

LONGEST_WAIT = "60s"
"""How long a request may wait in the picker's queue. Without a limit it waits as long as its client does, also where
there is no server. Upstream's default since llm-d-router 0.10 (llm-d/llm-d-router#2123)."""


def containers(scheduler: SchedulerSettings, door: FrontDoorSettings | None) -> list[Json]:
    """The fields of the endpoint picker's containers that differ from KServe's preset.

    The preset has its arguments in ``command``, so that ``args`` adds to them.
    """
    main: JsonObject = {"name": "main", "image": scheduler.image}
    if door is not None:
        main["args"] = [f"{front_door.PICKER_MESSAGE_FLAG}={front_door.PICKER_MESSAGE_BYTES}"]
        main["readinessProbe"] = dict[str, Json](front_door.PICKER_READINESS)
    if scheduler.tokenizer_image is None:
        return [main]
    return [main, {"name": "tokenizer", "image": scheduler.tokenizer_image}]


def scheduler_config(model: ModelSettings, *, flow_control: bool = False) -> JsonObject:
    """The endpoint picker's plugins and weights: one of upstream's profiles, or the list in the settings.

    If it were omitted, KServe would keep the flags of the running Deployment, also across upgrades (kserve
    ``scheduler.go``). Prefix scorers are omitted if the server caches no prefixes. With ``flow_control`` requests wait
    in the picker while all replicas are saturated, by priority, and callers of one priority take turns
    (llm-d/llm-d-router v0.9.0 ``pkg/epp/flowcontrol``). A model without any server counts as saturated: after
    :data:`LONGEST_WAIT` the picker answers 503. Unless the settings say when a replica is full, it is then by the
    requests that it can run at once, ``maxNumSeqs``: by metrics, one replica with a long queue holds every request.
    """
    entries = _plugins(model)
    if not any(plugin.type.endswith(scheduling.PICKER_SUFFIX) for plugin in entries):
        entries = [*entries, PluginSettings(type=scheduling.DEFAULT_PICKER)]
    declared: list[Json] = [{"type": scheduling.HANDLER}]
    used: list[Json] = []
    for plugin in entries:
        declared.append(
            {"type": plugin.type, **({"parameters": cast("Json", plugin.parameters)} if plugin.parameters else {})}
        )
        used.append({"pluginRef": plugin.type, **({} if plugin.weight is None else {"weight": plugin.weight})})
    detector: JsonObject = {}
    if (limits := _limits(model, counted=flow_control)) is not None:
        kind, parameters = limits
        declared.append({"type": kind, "parameters": parameters})
        # llm-d-router 0.9 reads this older field and a newer one; an endpoint picker of the inference extension 1.5
        # only this one.
        detector["saturationDetector"] = {"pluginRef": kind}
    queue: JsonObject = {}
    if flow_control:
        queue = {"featureGates": ["flowControl"], "flowControl": {"defaultRequestTTL": LONGEST_WAIT}}
    return {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha1",
        "kind": "EndpointPickerConfig",
        **queue,
        "plugins": declared,
        "schedulingProfiles": [{"name": "default", "plugins": used}],
        **detector,
    }


def _limits(model: ModelSettings, *, counted: bool) -> tuple[str, JsonObject] | None:
    """The saturation detector and its parameters; ``None`` for the picker's own. ``counted``: ``maxNumSeqs`` limits the
    requests in flight by default.
    """
    saturation = model.scheduler.saturation
    if saturation is None:
        own = any(plugin.type in scheduling.DETECTORS for plugin in model.scheduler.plugins)
        if not counted or own or model.max_num_seqs is None:
            return None
        saturation = SaturationSettings(max_concurrency=model.max_num_seqs)
    if saturation.max_concurrency is not None:
        return scheduling.CONCURRENCY_DETECTOR, {"maxConcurrency": saturation.max_concurrency}
    stale = saturation.metrics_staleness_milliseconds
    limits: JsonObject = {
        "queueDepthThreshold": saturation.queue_depth_threshold,
        "kvCacheUtilThreshold": saturation.kv_cache_util_threshold,
        "metricsStalenessThreshold": None if stale is None else f"{stale}ms",
        "headroom": saturation.headroom,
    }
    return scheduling.SATURATION_DETECTOR, {key: value for key, value in limits.items() if value is not None}


def _plugins(model: ModelSettings) -> list[PluginSettings]:
    if model.scheduler.plugins:
        return list(model.scheduler.plugins)
    scorers = scheduling.PROFILES[model.scheduler.profile]
    if model.adapters:
        scorers = (*scorers, (scheduling.LORA, scheduling.LORA_WEIGHT))
    return [
        PluginSettings(type=kind, weight=weight)
        for kind, weight in scorers
        if model.prefix_caching or kind not in scheduling.NEEDS_PREFIX_CACHE
    ]
