"""``python -m localcloud cluster ...``: the cluster of a laptop cloud alone, without the program."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from localcloud import binaries
from localcloud.cluster import start, status_table
from localcloud.cluster.processes import PROGRAMS
from localcloud.common.layout import Layout
from localcloud.common.lock import exclusive
from localcloud.common.workdir import Workdir
from localcloud.gke_gateway.crds import upstream
from localcloud.monitoring import options

app = typer.Typer(
    help="Manage only the cluster of a laptop cloud.", no_args_is_help=True, pretty_exceptions_enable=False
)
Only = Annotated[list[str] | None, typer.Option("--only", help="Start only these processes; may be repeated.")]


def workdir() -> Workdir:
    """The laptop cloud of this clone, or of ``$LLMD_GKE_HOME``."""
    return Workdir.of(kind="laptop")


@app.command("start")
def start_(
    *,
    only: Only = None,
) -> None:
    """Start the namespaces and the control plane, unless they are running."""
    here, console = workdir(), Console()
    wanted = [name for name in PROGRAMS if only is None or name in only]
    if only is None or "monitoring" in only:
        wanted += options.programs()
    with exclusive(here, "cluster start"):
        binaries.ensure(wanted, console)
        if only is None or "gateway" in only:
            upstream.prepare(Layout(here.home).crds)
        programs = {name: binaries.path(name) for name in wanted}
        start.start(here, programs, console, only=only)
    status_table.show(here, console)


@app.command()
def stop() -> None:
    """Stop everything inside; keep etcd's data."""
    here = workdir()
    with exclusive(here, "cluster stop"):
        ran = start.stop(here)
    print("Stopped." if ran else "Nothing ran.")


@app.command()
def status() -> None:
    """Show processes, their memory and restarts, and the location of logs."""
    raise typer.Exit(0 if status_table.show(workdir(), Console()) else 1)
