"""Faults to inject: the JSON file that ``$LLMD_GKE_FAULTS`` names, read anew at every call.

::

    {"stockout": ["europe-west4-a"],                     zones without TPU capacity
     "quota": {"CT6E": 0},                               chips per region that the project may have, by TPU family
     "enabledApis": ["*"],                               APIs that are on before the program enables any
     "existingBuckets": ["my-weights"],                  buckets that are older than the stack
     "existingSubnets": {                                subnets that are, by id; their networks are, too
         "projects/corp-net/regions/europe-west4/subnetworks/gke": {
             "network": "corp", "secondaryIpRanges": [{"rangeName": "pods"}, {"rangeName": "services"}]}},
     "usableAfter": {"container.googleapis.com": 20},  seconds for which an API that was just enabled refuses calls
     "chartsAway": ["lws"],                              charts whose registry does not answer
     "inUseAfterCluster": 60}                            seconds that GKE's endpoint groups outlive their cluster

Every key is optional; an unknown one is refused, so that a misspelt fault cannot make a test pass.
"""

from __future__ import annotations

import json
import os
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
        "chartsAway",
        "inUseAfterCluster",
        "usableAfter",
    ]
)


class Faults:
    """The faults to inject."""

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
