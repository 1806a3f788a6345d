"""Status conditions. An unchanged condition keeps its transition time, so that writing it again changes nothing."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from llmd_common.kubernetes.fields import text
from localcloud.providers.protocol.values import JsonObject, JsonValue


@dataclass(frozen=True)
class Condition:
    """A condition to be written. ``reason`` defaults to the type, as in GKE's good cases."""

    type: str
    status: bool = True
    reason: str = ""
    message: str = ""


def merged(
    conditions: Sequence[Condition], generation: int, before: Sequence[JsonObject], now: str = ""
) -> list[JsonValue]:
    """The conditions as JSON for a status; ``before`` are those that the status has now."""
    previous = {text(entry, "type"): entry for entry in before}
    return [_entry(condition, generation, previous.get(condition.type), now or timestamp()) for condition in conditions]


def _entry(condition: Condition, generation: int, before: JsonObject | None, now: str) -> JsonObject:
    status = "True" if condition.status else "False"
    same = before is not None and before.get("status") == status
    return {
        "type": condition.type,
        "status": status,
        "reason": condition.reason or condition.type,
        "message": condition.message,
        "observedGeneration": generation,
        "lastTransitionTime": text(before, "lastTransitionTime") if same else now,
    }


def timestamp() -> str:
    """Now, as Kubernetes writes times."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
