"""``llmd-gke preview-copy``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from operations.options import DEFAULT_STACK, Output, OutputOption, StackOption
from operations.printing import show
from operations.progress import working
from operations.target import root_folder


def command(
    state: Annotated[Path, typer.Option(metavar="FILE", help="Output of `pulumi stack export --stack STACK`.")],
    into: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the copy; must not exist yet.")],
    stack: StackOption = DEFAULT_STACK,
    output: OutputOption = Output.TABLE,
) -> None:
    """Copy a stack's state and settings with placeholders instead of secrets.

    `pulumi preview` works with the copy as with the stack, but needs neither permission to decrypt nor write access to
    the state. The copy is a file backend (`PULUMI_BACKEND_URL=file://FOLDER`) and a stack file (`--config-file
    FOLDER/Pulumi.STACK.yaml`). `FOLDER/environment` contains both variables that the engine needs, and
    `FOLDER/exclude` the URN of each resource whose inputs contain secrets: pass them with `--exclude`, because a
    placeholder always differs. Used by the workflows `preview` and `drift`.
    """
    with working(f"copying stack {stack} without its secrets", quiet_seconds=0):
        from operations.preview_copy.files import write_copy

        copy = write_copy(root_folder(), stack, state, into)
    excluded = list(copy.incomparable)
    show(
        output,
        {"stack": stack, "folder": str(into), "excluded": excluded},
        f"{into}: a copy of stack {stack} without secrets. Not comparable, because they contain secrets: "
        f"{len(excluded)}.",
    )
