"""``llmd-gke status``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from operations import outputs
from operations.enter_localcloud import enter, entered
from operations.exits import Failed
from operations.options import DEFAULT_STACK, Cloud, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.target import Target


def command(
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    *,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Repeat until Ctrl-C.")] = False,
    every: Annotated[float, typer.Option(min=1, help="Interval of --watch, in seconds.")] = 5,
    ask: Annotated[bool, typer.Option(help="Request a token from each model through the gateway.")] = True,
) -> None:
    """Show a stack on one screen, from its nodes to a model's token: what works, what is in progress, what needs
    attention.

    Exit status 0: nothing is wrong (some parts may still be in progress); 1: something needs attention; others: see
    `llmd-gke --help`. With --watch and JSON, each snapshot is one line.
    """
    if output is Output.TABLE and not entered():
        # Settings, state and cluster take a moment: the first line is shown before they are read.
        print(f"Status of stack {stack}", flush=True)
    target = Target.choose(stack, cloud)
    enter(target)
    if target.cloud is Cloud.REHEARSAL:
        _rehearsal(target, output)
        return
    import asyncio

    from operations.status import snapshots

    sections = asyncio.run(
        snapshots.watch(target, output, every, ask=ask) if watch else snapshots.once(target, output, ask=ask)
    )
    from operations.status.objects import State
    from operations.status.screen import worst

    if worst(sections) is State.BAD:
        raise Failed(f"Stack {target.stack} needs attention; see above.")


def _rehearsal(target: Target, output: Output) -> None:
    values = outputs.read(target)
    message = "The rehearsal has no Kubernetes API and no pods: only the outputs of the stack can be shown."
    shown: dict[str, object] = {key: value for key, value in values.values.items() if key != "kubeconfig"}
    data: dict[str, object] = {"stack": target.stack, "cloud": target.cloud.value, "state": "unknown", "note": message}
    lines = [f"  {key}: {json.dumps(value) if not isinstance(value, str) else value}" for key, value in shown.items()]
    more = f"Pods, conditions and answers: make up STACK={target.stack} CLOUD=laptop"
    show(output, {**data, "outputs": shown}, "\n".join([message, *lines, more]))
