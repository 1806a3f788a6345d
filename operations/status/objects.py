"""Kubernetes objects as plain data: access to their fields, and the lines of the screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from llmd_common.kubernetes.fields import Object, labels, name, namespace, text


class State(StrEnum):
    """Good: no problem. Busy: in progress, wait. Bad: needs attention. Unknown: cannot be determined."""

    GOOD = "good"
    BUSY = "busy"
    BAD = "bad"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Line:
    """One line of the screen: subject, state, explanation, and the command to run next."""

    subject: str
    state: State
    text: str
    fix: str = ""


@dataclass
class Snapshot:
    """The objects of a cluster at one moment, by kind. ``unreadable``: kinds that could not be listed, and why."""

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
    """The first lines of servers that are not ready yet, by namespace and pod."""
    unreadable: dict[str, str] = field(default_factory=dict[str, str])
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


def of(objects: Iterable[Object], where: str, called: str) -> Object | None:
    """The object of that namespace and name; ``None`` if there is none."""
    return next((one for one in objects if namespace(one) == where and name(one) == called), None)


def labelled(pods: Iterable[Object], where: str, wanted: Mapping[str, object]) -> list[Object]:
    """The pods of a namespace that have all of these labels."""
    return [pod for pod in pods if namespace(pod) == where and wanted.items() <= labels(pod).items()]


def moment(value: object, *path: str) -> datetime | None:
    """A time from its text, in UTC; ``None`` if it is not a time."""
    try:
        return datetime.fromisoformat(text(value, *path))
    except ValueError:
        return None


def ago(now: datetime, then: datetime | None) -> str:
    """The time from ``then`` to ``now`` for people: ``45 s``, ``12 min``, ``3 h``, ``9 d``."""
    if then is None:
        return "?"
    seconds = max(0, int((now - then).total_seconds()))
    for size, unit in ((86400 * 2, "d"), (3600 * 2, "h"), (120, "min")):
        if seconds >= size:
            return f"{seconds // {'d': 86400, 'h': 3600, 'min': 60}[unit]} {unit}"
    return f"{seconds} s"
