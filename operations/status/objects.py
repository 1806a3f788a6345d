"""Kubernetes objects as plain data: ways into them, and the lines that the parts of the screen are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import cast

Object = Mapping[str, object]


class State(StrEnum):
    """Good: as it should be. Busy: on its way, wait. Bad: will not get better by itself. Unknown: cannot be seen."""

    GOOD = "good"
    BUSY = "busy"
    BAD = "bad"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Line:
    """One line of the screen: what it is about, how that is, why, and the command that goes on from there."""

    subject: str
    state: State
    text: str
    fix: str = ""


@dataclass
class Snapshot:
    """What the cluster holds at one moment, by kind; ``unreadable``: kinds that could not be listed, and why."""

    nodes: Sequence[Object] = ()
    pods: Sequence[Object] = ()
    services: Sequence[Object] = ()
    """LLMInferenceServices."""
    gateways: Sequence[Object] = ()
    routes: Sequence[Object] = ()
    pools: Sequence[Object] = ()
    """InferencePools."""
    health_policies: Sequence[Object] = ()
    backend_policies: Sequence[Object] = ()
    events: Sequence[Object] = ()
    logs: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """The last lines of servers that are not ready yet, by namespace and pod."""
    unreadable: dict[str, str] = field(default_factory=dict[str, str])
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


def get(value: object, *path: str) -> object:
    """What lies at a path of keys, ``None`` where a step is missing."""
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = cast("Object", value).get(key)
    return value


def text(value: object, *path: str) -> str:
    """A string at a path, empty where there is none."""
    found = get(value, *path)
    return "" if found is None else str(found)


def number(value: object, *path: str) -> int:
    """A whole number at a path (also written as a string, as quantities are), 0 where there is none."""
    found = text(value, *path)
    return int(found) if found.isdigit() else 0


def entries(value: object, *path: str) -> list[Object]:
    """The tables of a list at a path."""
    found = get(value, *path)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return []
    return [cast("Object", entry) for entry in cast("Sequence[object]", found) if isinstance(entry, Mapping)]


def conditions(value: object, *path: str) -> dict[str, Object]:
    """The conditions of a status by type; ``path`` leads to what holds ``conditions`` (default: ``status``)."""
    return {text(one, "type"): one for one in entries(value, *(path or ("status",)), "conditions")}


def name(value: object) -> str:
    """``metadata.name``."""
    return text(value, "metadata", "name")


def namespace(value: object) -> str:
    """``metadata.namespace``."""
    return text(value, "metadata", "namespace")


def label(value: object, key: str) -> str:
    """A label's value, empty where it is not set."""
    return text(get(value, "metadata", "labels"), key)


def of(objects: Iterable[Object], where: str, called: str) -> Object | None:
    """The object of that namespace and name."""
    return next((one for one in objects if namespace(one) == where and name(one) == called), None)


def moment(value: object, *path: str) -> datetime | None:
    """A time at a path, in UTC."""
    try:
        return datetime.fromisoformat(text(value, *path))
    except ValueError:
        return None


def ago(now: datetime, then: datetime | None) -> str:
    """How long ago, for people: ``45 s``, ``12 min``, ``3 h``, ``9 d``."""
    if then is None:
        return "?"
    seconds = max(0, int((now - then).total_seconds()))
    for size, unit in ((86400 * 2, "d"), (3600 * 2, "h"), (120, "min")):
        if seconds >= size:
            return f"{seconds // {'d': 86400, 'h': 3600, 'min': 60}[unit]} {unit}"
    return f"{seconds} s"


def short(message: str, most: int = 220) -> str:
    """One line of a message."""
    line = " ".join(message.split())
    return line if len(line) <= most else line[: most - 4] + " ..."
