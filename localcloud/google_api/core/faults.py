"""Faults on demand: one list, set over HTTP (``/_emulator/faults``) or in Python (:meth:`Faults.set`).

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

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import cast

from localcloud.providers.protocol import faults as protocol
from localcloud.providers.protocol.values import JsonObject, JsonValue, number, text, texts

KINDS: dict[str, frozenset[str]] = {
    "error": frozenset({"code", "message", "reason"}),
    "drop": frozenset(),
    "slow": frozenset({"seconds"}),
    "operation": frozenset({"message"}),
    "expired-token": frozenset(),
    "stockout": frozenset({"zone", "capacity"}),
    "reclaimed": frozenset({"seconds"}),
    "world": frozenset(
        {
            "billing",
            "enabledApis",
            "existingBuckets",
            "existingSubnets",
            "identities",
            "inUseAfterCluster",
            "permissions",
            "projectState",
            "quota",
            "stockout",
            "usableAfter",
            "versions",
        }
    ),
}
_COMMON = frozenset({"fault", "method", "resource", "times", "after"})


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str)


def _is_amount(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _is_count(value: JsonValue) -> bool:
    return _is_amount(value) and isinstance(value, int)


def _each(member: Callable[[JsonValue], bool]) -> Callable[[JsonValue], bool]:
    return lambda value: isinstance(value, list) and all(member(one) for one in value)


def _table(member: Callable[[JsonValue], bool]) -> Callable[[JsonValue], bool]:
    return lambda value: isinstance(value, dict) and all(member(one) for one in value.values())


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


_TEXT = ("a text", _is_text)
_COUNT = ("a whole number, 0 or more", _is_count)
_SECONDS_RULE = ("a number of seconds, 0 or more", _is_amount)
_TEXTS = ("a list of strings", _each(_is_text))
VALUES: dict[str, tuple[str, Callable[[JsonValue], bool]]] = {
    **dict.fromkeys(
        ("fault", "method", "resource", "message", "reason", "zone", "capacity", "projectState"),
        _TEXT,
    ),
    **dict.fromkeys(("times", "after"), _COUNT),
    "code": ("an HTTP error status, 400 to 599", lambda value: isinstance(value, int) and 400 <= value <= 599),
    **dict.fromkeys(("seconds", "inUseAfterCluster"), _SECONDS_RULE),
    "billing": ("true or false", lambda value: isinstance(value, bool)),
    **dict.fromkeys(("enabledApis", "existingBuckets", "permissions", "stockout"), _TEXTS),
    "existingSubnets": ("an object of objects", _table(lambda one: isinstance(one, dict))),
    "identities": ("an object of strings", _table(_is_text)),
    "quota": ("an object of numbers, -1 for no limit", _table(lambda one: one == -1 or _is_amount(one))),
    "usableAfter": ("an object of numbers, 0 or more", _table(_is_amount)),
    "versions": ("an object of lists of strings", _table(_each(_is_text))),
}
"""For each field of a fault: what its value must be, as text and as a predicate."""


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
        for given in faults:
            kind = text(given, "fault")
            if kind not in KINDS:
                raise ValueError(f"fault {kind!r} is not known. Allowed: {', '.join(KINDS)}")
            if unknown := sorted(given.keys() - _COMMON - KINDS[kind]):
                raise ValueError(
                    f"fault {kind}: unknown {', '.join(unknown)}. Allowed: {', '.join(sorted(KINDS[kind]))}"
                )
            for key, value in given.items():
                expected, fits = VALUES[key]
                if not fits(value):
                    raise ValueError(f"fault {kind}: {key} is {json.dumps(value)}. Allowed: {expected}")
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
