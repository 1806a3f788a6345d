"""Faults on demand: one list, set by a command (``python -m localcloud google faults``) or :meth:`ApiFaults.set`.

Each fault is an object. ``method`` (a pattern such as ``compute.*.insert``) and ``resource`` (a pattern of the path)
say where it strikes, ``times`` how often (without it: always), ``after`` how many requests it lets pass first::

    {"fault": "error", "method": "compute.networks.insert", "code": 409, "times": 1}   also 429, 503, 401 …
    {"fault": "drop", "method": "container.*.create", "times": 1}    acts, and closes the connection without an answer
    {"fault": "slow", "method": "container.*", "seconds": 5}         its operations take so long
    {"fault": "operation", "method": "compute.*.insert", "message": "backend error"}   accepted, then fails
    {"fault": "expired-token", "times": 1}                           401, as after an hour

    {"fault": "stockout", "zone": "us-east5-*", "capacity": "spot", "times": 2}   so many attempts of GKE fail
    {"fault": "reclaimed", "resource": "*/nodePools/tpu", "seconds": 30, "times": 1}   its hosts go, and return

``capacity`` is ``spot``, ``flex-start``, ``reserved`` or ``on-demand``; without it or without ``zone``, any.

``world`` faults are conditions (:mod:`localcloud.providers.protocol.faults`)::

    {"fault": "world", "stockout": ["europe-west4-a"], "quota": {"CT6E": 0}, "enabledApis": ["*"]}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from localcloud.providers.protocol import faults as protocol
from localcloud.providers.protocol.values import JsonObject, JsonValue, number, text, texts


class _Fault(BaseModel):
    """Checked only: what a fault leaves out means what the code that reads it says."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)
    method: str = "*"
    resource: str = "*"
    times: NonNegativeInt | None = None
    after: NonNegativeInt = 0


class _Plain(_Fault):
    fault: Literal["drop", "expired-token"]


class _Error(_Fault):
    fault: Literal["error"]
    code: Annotated[int, Field(ge=400, le=599)] = 503
    message: str = ""
    reason: str = ""


class _Operation(_Fault):
    fault: Literal["operation"]
    message: str = ""


class _Lasting(_Fault):
    fault: Literal["slow", "reclaimed"]
    seconds: NonNegativeFloat = 1


class _Stockout(_Fault):
    fault: Literal["stockout"]
    zone: str = "*"
    capacity: str = "*"


class _World(_Fault, protocol.Conditions):
    fault: Literal["world"]
    billing: bool = True
    identities: dict[str, str] = {}
    permissions: list[str] = []
    project_state: str = ""
    versions: dict[str, list[str]] = {}


_One = Annotated[_Plain | _Error | _Operation | _Lasting | _Stockout | _World, Field(discriminator="fault")]
_FAULTS = TypeAdapter(list[_One])


def out_of_stock(faults: Sequence[JsonObject], zone: str, capacity: str) -> bool:
    """Whether a zone has no host of that capacity left, by the faults in force.

    For nodes that the cluster autoscaler requests: unlike attempts to create a pool, they do not count down ``times``.
    """
    for one in faults:
        if text(one, "fault") == "world" and zone in texts(one, "stockout"):
            return True
        fits = fnmatchcase(zone, text(one, "zone") or "*") and fnmatchcase(capacity, text(one, "capacity") or "*")
        if text(one, "fault") == "stockout" and fits and number(one, "times") != 0:
            return True
    return False


def reclaimed(faults: Sequence[JsonObject], pool: str) -> bool:
    """Whether Google has taken away the hosts of a node pool (its id), by the faults in force, without counting."""
    return any(
        text(one, "fault") == "reclaimed"
        and fnmatchcase(pool, text(one, "resource") or "*")
        and number(one, "times") != 0
        for one in faults
    )


class CloudConditions(protocol.Faults):
    """Faults for the rules: those of the file ``$LLMD_GKE_FAULTS``, overridden by those set here."""

    def __init__(self) -> None:
        self.given: JsonObject = {}

    def read(self) -> JsonObject:
        """The present faults."""
        return {**super().read(), **self.given}


@dataclass
class ApiFaults:
    """The faults in force."""

    conditions: CloudConditions = field(default_factory=CloudConditions)
    _faults: list[JsonObject] = field(default_factory=list[JsonObject])

    def set(self, faults: Sequence[JsonObject]) -> None:
        """Replaces all faults. Raises ``ValueError`` for one that is not known: a misspelt one must not make a test
        pass.
        """
        try:
            _FAULTS.validate_python(faults)
        except ValidationError as refused:
            raise ValueError(f"fault {protocol.described(refused, skip=1)}") from None
        self.take(faults)

    def take(self, faults: Sequence[JsonObject]) -> None:
        """Restores faults that were set before, with the number of times that each still applies."""
        self._faults, self.conditions.given = [dict(one) for one in faults], {}
        for one in self._faults:
            if text(one, "fault") == "world":
                self.conditions.given.update({key: value for key, value in one.items() if key != "fault"})

    def shown(self) -> list[JsonValue]:
        """The present faults; ``times`` is how often each still strikes."""
        return list[JsonValue](self._faults)

    def strike(self, kind: str, method: str, path: str, **more: str) -> JsonObject | None:
        """The fault of that kind that applies to a request, counted down. ``more``: values that its other patterns must
        match.
        """
        for one in self._faults:
            hit = fnmatchcase(method, text(one, "method") or "*") and fnmatchcase(path, text(one, "resource") or "*")
            hit = hit and all(fnmatchcase(value, text(one, key) or "*") for key, value in more.items())
            left, skip = number(one, "times"), number(one, "after") or 0
            if text(one, "fault") != kind or not hit or left == 0:
                continue
            if skip > 0:
                one["after"] = skip - 1
                continue
            if left is not None:
                one["times"] = left - 1
            return one
        return None

    def seconds(self, method: str, path: str) -> float:
        """Seconds that the operation of a request takes."""
        fault = self.strike("slow", method, path)
        return float(cast("float | int | str", fault.get("seconds", 1))) if fault else 0.0
