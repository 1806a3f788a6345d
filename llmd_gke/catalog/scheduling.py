"""Plugins of the endpoint picker, and their upstream weights.

Sources: kserve ``pkg/controller/v1alpha2/llmisvc/scheduler.go`` (``schedulerConfigText``, which follows llm-d's
optimized baseline) and v0.19.0 for the older pair; plugin names of llm-d/llm-d-router v0.9.0.
"""

from __future__ import annotations

from collections.abc import Mapping

QUEUE, KV_CACHE, PREFIX, NO_HIT, LORA = (
    "queue-scorer",
    "kv-cache-utilization-scorer",
    "prefix-cache-scorer",
    "no-hit-lru-scorer",
    "lora-affinity-scorer",
)

PROFILES: Mapping[str, tuple[tuple[str, int], ...]] = {
    "optimized-baseline": ((QUEUE, 2), (KV_CACHE, 2), (PREFIX, 3), (NO_HIT, 2)),
    "queue-and-prefix": ((QUEUE, 2), (PREFIX, 3)),
    "load": ((QUEUE, 2), (KV_CACHE, 2)),
}
"""Scorers and weights by name: KServe's and llm-d's default, KServe 0.17 to 0.19's, and one without prefixes."""

NEEDS_PREFIX_CACHE = frozenset({PREFIX, NO_HIT})
"""Scorers that are useless if the server caches no prefixes."""

LORA_WEIGHT = 4
"""Weight of the scorer that prefers replicas with the request's adapter; KServe adds it to profiles of its own."""

SCORER_SUFFIX = "-scorer"
PICKER_SUFFIX = "-picker"
HANDLER = "single-profile-handler"
SATURATION_DETECTOR = "utilization-detector"
"""Plugin that decides whether a replica is full. Parameters: llm-d/llm-d-router v0.9.0
``pkg/epp/framework/plugins/flowcontrol/saturationdetector/utilization/config.go``."""
CONCURRENCY_DETECTOR = "concurrency-detector"
"""Plugin that decides it by the requests that the picker has sent and that have not ended. Parameters:
llm-d/llm-d-router v0.9.0 ``pkg/epp/framework/plugins/flowcontrol/saturationdetector/concurrency/config.go``. The picker
adds the counter that it needs, ``inflight-load-producer`` (``pkg/epp/datalayer/data_graph.go``
``CreateMissingDataProducers``)."""
DETECTORS = (SATURATION_DETECTOR, CONCURRENCY_DETECTOR)
DEFAULT_PICKER = "max-score-picker"
"""Plugin that chooses one endpoint by the scores; ``random-picker`` and ``weighted-random-picker`` are the others."""
