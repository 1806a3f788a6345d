"""``llmd-gke key``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from operations.options import DEFAULT_STACK, CloudOption, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import Target


class Action(StrEnum):
    """The actions on a key."""

    NEW = "new"
    ROTATE = "rotate"
    REVOKE = "revoke"


def command(
    action: Annotated[Action, typer.Argument(help="new: the first key; rotate: a second one; revoke: remove one.")],
    caller: Annotated[str, typer.Argument(help="Name of the caller; to revoke, of the key, such as team-a.next.")],
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
    cloud: CloudOption = None,
) -> None:
    """Create, rotate or revoke a key of a caller of the front door, in the stack file, encrypted.

    A new key is shown once, and is valid after the next `pulumi up`. To rotate: `rotate`, `pulumi up`, move the clients
    to the new key, `revoke` the old one, `pulumi up`. Nothing restarts.
    """
    with working(f"changing the keys of stack {stack}", quiet_seconds=0):
        from operations.key.change import change

        done = change(Target.choose(stack, cloud), action.value, caller)
    show(output, {"stack": stack, "key": done.name, "value": done.value, "then": list(done.then)}, done.text)
