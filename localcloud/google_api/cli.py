"""``python -m localcloud google ...``: shows the resources of the emulator of Google's APIs, and sets its faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import Console
from rich.table import Table

from llmd_common.problems import BadInput
from localcloud.common.workdir import Workdir
from localcloud.google_api.columns import COLUMNS

if TYPE_CHECKING:
    from localcloud.providers.protocol.values import JsonObject

app = typer.Typer(
    help="The emulator of Google's APIs (localcloud/docs/google-emulator.md): show its contents and set faults.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def folder() -> Path:
    """The emulator's folder for the cloud that ``--cloud`` chose."""
    return Workdir.of().cloud


@app.command()
def show(
    what: Annotated[str, typer.Argument(help=f"One of: {', '.join(COLUMNS)}.")] = "resources",
    as_json: Annotated[bool, typer.Option("--json", help="Show all fields, as JSON.")] = False,
) -> None:
    """Print resources, operations, the last requests, or faults."""
    from localcloud.google_api import overview
    from localcloud.google_api.core.cloud import EmulatedCloud

    if what not in COLUMNS:
        raise BadInput(f"{what} is not known. Allowed: {', '.join(COLUMNS)}.\nFix: google show resources")
    cloud = EmulatedCloud(folder())
    cloud.look()
    rows = overview.rows(cloud, what)
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    table = Table(box=None, pad_edge=False)
    for column in COLUMNS[what]:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(str(row[column]) for column in COLUMNS[what]))
    Console().print(table if rows else f"no {what}")


@app.command()
def faults(
    given: Annotated[str, typer.Argument(metavar="JSON", help="A list of faults; [] removes all.")],
) -> None:
    """Set the faults to inject from now on, for every process that uses this cloud."""
    from localcloud.google_api.core.cloud import EmulatedCloud

    try:
        read: object = json.loads(given)
        if not isinstance(read, list) or not all(isinstance(one, dict) for one in cast("list[object]", read)):
            raise ValueError("expected a list of objects")
        cloud = EmulatedCloud(folder())
        with cloud.opened():
            cloud.faults.set(cast("list[JsonObject]", read))
    except ValueError as error:
        raise BadInput(f"{error}\nFix: see localcloud/docs/google-emulator.md#faults") from None
    show("faults")
