"""The options that every command has."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Output(StrEnum):
    """How a result is written: for people, or for programs."""

    TABLE = "table"
    JSON = "json"


class Cloud(StrEnum):
    """Where a stack lives: Google Cloud, the stand-ins of ``make up``, or the Kubernetes of ``CLOUD=laptop``."""

    GOOGLE = "google"
    REHEARSAL = "rehearsal"
    LAPTOP = "laptop"


StackOption = Annotated[
    str, typer.Option("--stack", "-s", envvar="STACK", help="Pulumi.STACK.yaml holds its settings.")
]
OutputOption = Annotated[Output, typer.Option("--output", "-o", help="For people, or for programs.")]
CloudOption = Annotated[
    Cloud | None,
    typer.Option(
        "--cloud",
        envvar="CLOUD",
        help="Where the stack lives. Default: google; rehearsal for a stack whose project is `rehearsal`.",
        show_default=False,
    ),
]

DEFAULT_STACK = "local"
"""As in the Makefile."""
