"""Faults to inject: the JSON file that ``$LLMD_GKE_FAULTS`` names, read anew at every call.

::

    {"stockout": ["europe-west4-a"],                     zones without TPU capacity
     "quota": {"CT6E": 0},                               chips per region that the project may have, by TPU family
     "enabledApis": ["*"],                               APIs that are on before the program enables any
     "existingBuckets": ["my-weights"],                  buckets that are older than the stack
     "existingSubnets": {                                subnets that are, by id; their networks are, too
         "projects/corp-net/regions/europe-west4/subnetworks/gke": {
             "network": "corp", "secondaryIpRanges": [{"rangeName": "pods"}, {"rangeName": "services"}]}},
     "delaySeconds": {"kubernetes:core/v1:Namespace": 3},   how long Create takes; the object exists meanwhile
     "usableAfter": {"container.googleapis.com": 20},  seconds for which an API that was just enabled refuses calls
     "inUseAfterCluster": 60,                            seconds that GKE's endpoint groups outlive their cluster
     "neverReady": ["LLMInferenceService"],              Kubernetes kinds whose wait ends with their timeout
     "timeScale": 0.001}                                 factor on every wait: a 30-minute timeout lasts 1.8 s

Keys of ``delaySeconds`` are types of Kubernetes as the engine names them. Every key is optional; an unknown
one is refused, so that a misspelt fault cannot make a test pass.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import cast

from localcloud.providers.protocol.values import JsonObject, JsonValue, dig

KEYS = frozenset(
    [
        "stockout",
        "quota",
        "enabledApis",
        "existingBuckets",
        "existingSubnets",
        "delaySeconds",
        "inUseAfterCluster",
        "neverReady",
        "timeScale",
        "usableAfter",
    ]
)


class Faults:
    """The faults to inject. Cancel and the process's end set ``stop``, which ends every wait."""

    def __init__(self) -> None:
        self.stop = threading.Event()

    def read(self) -> JsonObject:
        """The current faults. Raises ``ValueError`` for an unknown key or an unreadable file."""
        name = os.environ.get("LLMD_GKE_FAULTS")
        if not name or not Path(name).exists():
            return {}
        try:
            faults = cast(JsonObject, json.loads(Path(name).read_text()))
        except json.JSONDecodeError as error:
            raise ValueError(f"LLMD_GKE_FAULTS: {name} is not JSON: {error}") from None
        if unknown := sorted(faults.keys() - KEYS):
            raise ValueError(f"LLMD_GKE_FAULTS: unknown {', '.join(unknown)}; allowed: {', '.join(sorted(KEYS))}")
        return faults

    def listed(self, key: str) -> frozenset[str]:
        """The strings under ``key``."""
        entries = self.read().get(key)
        return frozenset(str(item) for item in entries) if isinstance(entries, list) else frozenset()

    def keys(self, key: str) -> frozenset[str]:
        """The keys of the object under ``key``."""
        entries = self.read().get(key)
        return frozenset(entries) if isinstance(entries, dict) else frozenset()

    def value(self, key: str, below: str) -> JsonValue:
        """The value under ``key`` and ``below``."""
        return dig(self.read(), key, below)

    def wait(self, seconds: float) -> bool:
        """Wait that long, scaled. ``False`` when Cancel or the end of the process cut it short."""
        scale = self.read().get("timeScale", 1)
        return not self.stop.wait(seconds * float(str(scale)))

    def delay(self, kind: str) -> bool:
        """The delay of that type's Create. ``False`` when cut short."""
        seconds = self.value("delaySeconds", kind)
        return self.wait(seconds) if isinstance(seconds, int | float) and seconds > 0 else not self.stop.is_set()
