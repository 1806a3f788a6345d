"""The screen: sections from the cluster to the token, and their overall state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from llmd_common.kubernetes.fields import name
from llmd_gke.settings import StackSettings
from llmd_gke.wording import counted
from operations.outputs import Outputs
from operations.status import events, front_door, gateway, nodes, services, stages
from operations.status.objects import Line, Snapshot, State

MARKS: Mapping[State, tuple[str, str]] = {
    State.GOOD: ("ok", "green"),
    State.BUSY: ("wait", "yellow"),
    State.BAD: ("BAD", "bold red"),
    State.UNKNOWN: ("-", "dim"),
}


@dataclass(frozen=True)
class ScreenSection:
    """A heading and its lines."""

    title: str
    lines: Sequence[Line]


def sections(snapshot: Snapshot, settings: StackSettings, outputs: Outputs, stack: str) -> list[ScreenSection]:
    """The sections that follow from the cluster's objects."""
    pools = [nodes.PoolPlan(pool.name, pool.family.shown(pool.slice), pool.max_nodes) for pool in settings.node_pools]
    shown = [ScreenSection("Nodes", nodes.lines(snapshot.nodes, snapshot.pods, pools))]
    policies = settings.gateway.is_googles
    for model in settings.models:
        if asleep := services.asleep(snapshot, model):
            shown.append(ScreenSection(f"Model {model.name}", asleep))
            continue
        lines = services.lines(
            snapshot, model.namespace, model.name, model.serving_replicas, stopped=model.stopped, stack=stack
        )
        if not model.stopped:
            lines += gateway.model_lines(
                snapshot, model.namespace, model.name, stack, settings.front_door, policies=policies
            )
        shown.append(ScreenSection(f"Model {model.name}", lines))
    address = outputs.gateway_ip
    shown.append(ScreenSection("Gateway", gateway.lines(snapshot, address, stack, settings.gateway)))
    if settings.front_door is not None:
        shown.append(
            ScreenSection("Front door", front_door.lines(snapshot, settings.front_door, stack, policies=policies))
        )
    waiting = [name(pod) for pod in snapshot.pods if stages.position(pod).stage not in (stages.READY, stages.GOING)]
    happened = events.lines(snapshot.events, settings.namespaces, snapshot.now, stack, waiting)
    unreadable = [Line(kind, State.UNKNOWN, why) for kind, why in snapshot.unreadable.items()]
    return [*shown, ScreenSection("Events of the last hour", [*happened, *unreadable])]


def worst(sections: Sequence[ScreenSection]) -> State:
    """The worst state of all lines, unknown ones ignored."""
    states = {line.state for section in sections for line in section.lines}
    return next((state for state in (State.BAD, State.BUSY) if state in states), State.GOOD)


def headline(sections: Sequence[ScreenSection]) -> str:
    """The last line of the screen."""
    lines = [line for section in sections for line in section.lines]
    bad = sum(line.state is State.BAD for line in lines)
    if bad:
        return f"{counted(bad, 'item')} will not recover without help; the command to run is below each of them."
    busy = sum(line.state is State.BUSY for line in lines)
    return f"In progress: waiting for {counted(busy, 'item')}." if busy else "Everything is as it should be."


def as_json(stack: str, cloud: str, sections: Sequence[ScreenSection]) -> dict[str, object]:
    """The screen as plain data."""
    return {
        "stack": stack,
        "cloud": cloud,
        "state": worst(sections).value,
        "sections": [
            {"title": section.title, "lines": [asdict(line) | {"state": line.state.value} for line in section.lines]}
            for section in sections
        ],
    }


def rendered(sections: Sequence[ScreenSection]) -> RenderableType:
    """The screen for people."""
    parts: list[RenderableType] = []
    for section in sections:
        if not section.lines:
            continue
        table = Table(title=section.title, title_justify="left", title_style="bold", show_header=False, box=None)
        table.add_column(width=4)
        table.add_column(max_width=56, overflow="fold")
        table.add_column(overflow="fold")
        for line in section.lines:
            mark, style = MARKS[line.state]
            text = Text(line.text)
            if line.fix:
                text.append(f"\n→ {line.fix}", style="cyan")
            table.add_row(Text(mark, style=style), Text(line.subject), text)
        parts.append(table)
    mark, style = MARKS[worst(sections)]
    parts.append(Text(headline(sections), style=style))
    return Group(*parts)
