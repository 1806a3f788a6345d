"""``python -m localcloud google ...``: shows the resources of the emulator of Google's APIs, and sets its faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from llmd_common.problems import BadInput
from localcloud.common.workdir import Workdir

app = typer.Typer(
    help="The emulator of Google's APIs (localcloud/docs/google-emulator.md): show its contents and set faults.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

PARTS = ("resources", "operations", "requests", "faults")


def folder() -> Path:
    """The emulator's folder for the cloud that ``--cloud`` chose."""
    return Workdir.of().cloud


@app.command()
def show(
    part: Annotated[str, typer.Argument(help=f"One of: {', '.join(PARTS)}.")] = "resources",
) -> None:
    """Print resources, operations, the last requests, or faults, as JSON."""
    from localcloud.google_api.core.cloud import EmulatedCloud
    from localcloud.google_api.server import contents

    if part not in PARTS:
        raise BadInput(f"{part} is not known. Allowed: {', '.join(PARTS)}.\nFix: google show resources")
    cloud = EmulatedCloud(folder())
    cloud.look()
    print(json.dumps(contents(cloud)[part], indent=1))


@app.command()
def faults(
    given: Annotated[str, typer.Argument(metavar="JSON", help="A list of faults; [] removes all.")],
) -> None:
    """Set the faults to inject from now on, for every process that uses this cloud."""
    from localcloud.google_api.core.cloud import EmulatedCloud

    try:
        cloud = EmulatedCloud(folder())
        with cloud.opened():
            cloud.faults.set(json.loads(given))
    except ValueError as error:
        raise BadInput(f"{error}\nFix: see localcloud/docs/google-emulator.md#faults") from None
    show("faults")
