"""Kubernetes events that matter to a model, translated; each once, the newest first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from llmd_common.kubernetes.fields import Object, name, namespace, number, text
from operations.printing import short
from operations.status.explanations import EVENTS, find
from operations.status.objects import Line, State, ago, moment

RECENT = timedelta(hours=1)
MOST = 8


def time_of(event: Object) -> datetime | None:
    """When it was last seen: the newer events API has ``series``, the older one ``lastTimestamp``."""
    return (
        moment(event, "series", "lastObservedTime")
        or moment(event, "lastTimestamp")
        or moment(event, "eventTime")
        or moment(event, "metadata", "creationTimestamp")
    )


def lines(
    events: Sequence[Object], namespaces: Collection[str], now: datetime, stack: str, waiting: Collection[str]
) -> list[Line]:
    """Lines on recent events in ``namespaces``; events of pods only for those in ``waiting``, since the others are past
    that stage.
    """
    newest: dict[tuple[str, str], tuple[datetime, Object]] = {}
    for event in events:
        when = time_of(event)
        if when is None or now - when > RECENT or namespace(event) not in namespaces:
            continue
        if text(event, "involvedObject", "kind") == "Pod" and text(event, "involvedObject", "name") not in waiting:
            continue
        key = (text(event, "reason"), text(event, "involvedObject", "name"))
        if key not in newest or newest[key][0] < when:
            newest[key] = (when, event)
    lines: list[Line] = []
    for when, event in sorted(newest.values(), key=lambda entry: (entry[0], name(entry[1])), reverse=True):
        reason, message = text(event, "reason"), text(event, "message")
        explanation = find(EVENTS, reason, message)
        if explanation is None:
            continue
        about = text(event, "involvedObject", "name")
        fix = explanation.fix.format(stack=stack, namespace=namespace(event), name=about)
        count = number(event, "count") or number(event, "series", "count") or 0
        times = f", {count} times" if count > 1 else ""
        # An event is about the past; the pods' lines show the present.
        state = State.UNKNOWN if explanation.state is State.BUSY else explanation.state
        summary = f"{explanation.text} ({reason}, {ago(now, when)} ago{times}: {short(message, 140)})"
        lines.append(Line(about, state, summary, fix))
    return lines[:MOST]
