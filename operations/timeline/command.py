"""``llmd-gke timeline``."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from operations import outputs
from operations.exits import BadInput
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.printing import as_data, show, table
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    from rich.table import Table

    from operations.timeline.measured import Measurement
    from operations.timeline.simulate import Timeline


NOT_A_CLOUD = "A local cloud neither waits for hosts nor downloads weights: only times of Google Cloud are meaningful."
"""Below the measured times of a local cloud."""


class TimelineFormat(StrEnum):
    """What is shown."""

    CHAIN = "chain"
    GANTT = "gantt"


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    *,
    format_: Annotated[
        TimelineFormat, typer.Option("--format", help="The longest chain with sources, or a Mermaid Gantt chart.")
    ] = TimelineFormat.CHAIN,
    what_if: Annotated[
        list[str] | None,
        typer.Option(metavar="STEP=SECONDS", help="Another duration of a step, e.g. compile=20 or Cluster=600."),
    ] = None,
    measured: Annotated[
        bool, typer.Option("--measured", help="Compare with the first update of the running stack, step by step.")
    ] = False,
) -> None:
    """Estimate how long the first update of a stack takes until each model answers, and which steps it consists of.

    Simulated over the graph that the program registers, with dated durations: nothing is measured, and a stock-out is
    not foreseen. The steps of the longest chain are the ones to shorten.
    """
    if measured and format_ is TimelineFormat.GANTT:
        raise BadInput("--format gantt cannot be combined with --measured.\nFix: leave one out")
    changed: dict[str, float] = {}
    for text in what_if or ():
        name, _, number = text.partition("=")
        if not name or not number.replace(".", "", 1).isdecimal():
            raise BadInput(f"--what-if {text}: allowed is STEP=SECONDS.\nFix: for example --what-if compile=20")
        changed[name] = float(number)
    with working(f"recording the graph of stack {stack}", quiet_seconds=0):
        from operations.record_graph import record
        from operations.timeline import simulate

        target = Target.choose(stack, cloud)
        graph = record(target).graph
        if unknown := sorted(changed.keys() - (allowed := simulate.allowed_what_if(graph, target.settings))):
            raise BadInput(
                f"--what-if {unknown[0]}: there is no such step.\n"
                "Allowed: host, image, weights, initialise, compile, warm-up, policy, a resource's name, or its kind.\n"
                f"Fix: {_hint(unknown[0], allowed, stack)}"
            )
        timeline = simulate.simulate(graph, target.settings, changed)
        choices = simulate.first_token_by_capacity(graph, target.settings, changed)
        measurement: Measurement | None = None
        if measured:
            from operations.timeline.measured import first_update, measure

            times = first_update(outputs.created(target), outputs.updates(target))
            measurement = measure(graph, timeline, times)
    if measurement is not None:
        data = _data(stack, timeline) | {"measured": _measured_data(measurement)}
        lines = [_measured_line(model, seconds, timeline) for model, seconds in measurement.services.items()]
        notes = () if target.cloud is Cloud.GOOGLE else (NOT_A_CLOUD,)
        show(output, data, _measured_table(stack, measurement), *lines, *notes)
        return

    picture = simulate.gantt(timeline, f"Stack {stack}") if format_ is TimelineFormat.GANTT else _chain(timeline)
    another = {
        model.name: simulate.seconds_of_another_replica(model, changed)
        for model in target.settings.models
        if model.name in timeline.first_token
    }
    first = [
        f"{model}: first token after {_minutes(seconds)}; of another replica, on a host that has the image, after "
        f"{_minutes(another[model])}"
        for model, seconds in timeline.first_token.items()
    ]
    from_zero = {
        model.name: simulate.seconds_from_zero(model, target.settings, changed)
        for model in target.settings.models
        if model.name in timeline.first_token and model.scales_to_zero
    }
    first += [
        f"{model}: without servers, first token after {_minutes(seconds)}" for model, seconds in from_zero.items()
    ]
    data = _data(stack, timeline) | {"anotherReplicaSeconds": another}
    if from_zero:
        data |= {"fromZeroSeconds": from_zero}
    if choices:
        data |= {"firstTokenSecondsByNodePool": choices}
    tables = [_capacities(model, by_pool) for model, by_pool in choices.items()]
    show(output, data, picture, *((*first, *tables) if format_ is TimelineFormat.CHAIN else ()))


def _capacities(model: str, by_pool: Mapping[str, float]) -> Table:
    from rich.markup import escape

    title = f"{model}: first token by the node pool that has hosts"
    made = table(title, ("node pool",), ("first token",), no_wrap=True)
    for name, seconds in by_pool.items():
        made.add_row(escape(name), _minutes(seconds))
    return made


def _hint(name: str, allowed: set[str], stack: str) -> str:
    from llmd_gke.wording import nearest

    near = nearest(name, sorted(allowed))
    return f"use {near}" if near else f"`llmd-gke timeline --stack {stack} --output json` lists the steps"


def _minutes(seconds: float) -> str:
    from operations.timeline.simulate import clock

    return f"{clock(seconds)} min"


def _chain(timeline: Timeline) -> str:
    lines = [
        f"{_minutes(step.start):>10}  {round(step.seconds):>4} s  {step.name}  [{step.source}]"
        for step in timeline.chain
        if round(step.seconds) > 0
    ]
    return "\n".join(["The longest chain, start and duration of each step:", *lines])


def _measured_line(model: str, seconds: float, timeline: Timeline) -> str:
    expected = timeline.first_token.get(model, 0.0)
    return f"{model}: created after {_minutes(seconds)}, first token expected after {_minutes(expected)}"


def _measured_table(stack: str, measurement: Measurement) -> Table:
    from rich.markup import escape

    from operations.timeline.measured import SHORTEST_SECONDS

    title = f"Stack {stack}: first update, {_minutes(measurement.total)}"
    made = table(title, ("step",), ("expected", "measured", "ratio"), no_wrap=True)
    shown = [step for step in measurement.steps if max(step.expected, step.measured) >= SHORTEST_SECONDS]
    for step in shown:
        ratio = "-" if step.ratio is None else f"{step.ratio:.2f}"
        made.add_row(escape(step.name), f"{step.expected:.0f} s", f"{step.measured:.0f} s", ratio)
    rest = [step for step in measurement.steps if step not in shown]
    if rest:
        longest = max(step.measured for step in rest)
        made.add_row(f"{len(rest)} others", "", f"{longest:.0f} s at most", "")
    return made


def _measured_data(measurement: Measurement) -> dict[str, object]:
    return {
        "seconds": round(measurement.total, 1),
        "serviceSeconds": {model: round(seconds, 1) for model, seconds in measurement.services.items()},
        "steps": [
            {**as_data(step, 1), "ratio": None if step.ratio is None else round(step.ratio, 2)}
            for step in measurement.steps
        ],
    }


def _data(stack: str, timeline: Timeline) -> dict[str, object]:
    chain = {step.name for step in timeline.chain}
    return {
        "stack": stack,
        "seconds": round(timeline.total),
        "firstTokenSeconds": {model: round(seconds) for model, seconds in timeline.first_token.items()},
        "steps": [
            {
                "name": step.name,
                "start": round(step.start),
                "seconds": round(step.seconds),
                "source": step.source,
                "onLongestChain": step.name in chain,
            }
            for step in timeline.steps
        ],
    }
