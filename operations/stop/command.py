"""``llmd-gke stop``."""

from __future__ import annotations

from typing import Annotated

import typer

from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption

ModelOption = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Name of the model. Default: the only one of the stack.", show_default=False),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Update without showing a preview and asking.")]


def command(
    stack: StackOption = DEFAULT_STACK,
    model: ModelOption = None,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    yes: YesOption = False,
) -> None:
    """Stop a model: write `stopped: true` to its stack file, and run `up`.

    Its pods, endpoint picker and routes are deleted, and its TPU nodes go about ten minutes later unless the pool's
    minNodes keeps them; settings, addresses and buckets stay. `up` also brings whatever else has changed in the file.

    Exit status 1: the update failed; 4: not confirmed, and the file is unchanged; 7: the stack is not up.
    """
    from operations.stop.switch import switch

    switch(stack, model, cloud, output, stopped=True, yes=yes)
