"""``llmd-gke timeline``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption

if TYPE_CHECKING:
    from operations.timeline.simulate import Timeline


class TimelineFormat(StrEnum):
    """What is shown."""

    CHAIN = "chain"
    GANTT = "gantt"


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    format_: Annotated[
        TimelineFormat, typer.Option("--format", help="The longest chain with sources, or a Mermaid Gantt chart.")
    ] = TimelineFormat.CHAIN,
    what_if: Annotated[
        list[str] | None,
        typer.Option(metavar="STEP=SECONDS", help="Another duration of a step, e.g. compile=20 or Cluster=600."),
    ] = None,
) -> None:
    """Estimate how long the first update of a stack takes until each model answers, and which steps it consists of.

    Simulated over the graph that the program registers, with dated durations: nothing is measured, and a stock-out is
    not foreseen. The steps of the longest chain are the ones to shorten.
    """
    from operations.exits import BadInput
    from operations.progress import working

    changed: dict[str, float] = {}
    for text in what_if or ():
        name, _, number = text.partition("=")
        if not name or not number.replace(".", "", 1).isdecimal():
            raise BadInput(f"--what-if {text}: allowed is STEP=SECONDS.\nFix: for example --what-if compile=20")
        changed[name] = float(number)
    with working(f"recording the graph of stack {stack}", quiet_seconds=0):
        from operations.record_graph import record
        from operations.target import Target
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
    from operations.printing import show

    picture = simulate.gantt(timeline, f"Stack {stack}") if format_ is TimelineFormat.GANTT else _chain(timeline)
    first = [f"{model}: first token after {_minutes(seconds)}" for model, seconds in timeline.first_token.items()]
    show(output, _data(stack, timeline), picture, *(first if format_ is TimelineFormat.CHAIN else ()))


def _hint(name: str, allowed: set[str], stack: str) -> str:
    from llmd_gke.settings.wording import nearest

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
