"""``llmd-gke start``."""

from __future__ import annotations

from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption
from operations.stop.command import ModelOption, YesOption


def command(
    stack: StackOption = DEFAULT_STACK,
    model: ModelOption = None,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
    yes: YesOption = False,
) -> None:
    """Start a stopped model: remove `stopped` from its stack file, and run `up`, which waits until the model serves.

    A model that runs already is left alone. `up` also brings whatever else has changed in the file.

    Exit status 1: the update failed; 4: not confirmed, and the file is unchanged; 7: the stack is not up.
    """
    from operations.stop.switch import switch

    switch(stack, model, cloud, output, stopped=False, yes=yes)
