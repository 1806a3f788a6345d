"""The options that every command has."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Output(StrEnum):
    """The format of a result: a table for people, or JSON."""

    TABLE = "table"
    JSON = "json"


class Cloud(StrEnum):
    """Where a stack lives: Google Cloud, the stand-ins of ``make up``, or the Kubernetes of ``CLOUD=laptop``."""

    GOOGLE = "google"
    REHEARSAL = "rehearsal"
    LAPTOP = "laptop"


StackOption = Annotated[
    str, typer.Option("--stack", "-s", envvar="STACK", help="Name of the stack; its settings are in Pulumi.STACK.yaml.")
]
OutputOption = Annotated[
    Output, typer.Option("--output", "-o", help="Output for people (table or text) or for programs (json).")
]
CloudOption = Annotated[
    Cloud | None,
    typer.Option(
        "--cloud",
        envvar="CLOUD",
        help="Cloud of the stack. Default: google, or rehearsal if the stack's project is `rehearsal`.",
        show_default=False,
    ),
]

DEFAULT_STACK = "local"
"""The same default as in the Makefile."""
