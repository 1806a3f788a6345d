"""``python -m llmd_gke.laptop cluster ...``: the cluster of a laptop cloud alone, without the program."""

from __future__ import annotations

import subprocess
from typing import Annotated

import typer
from rich.console import Console

from llmd_gke.laptop import programs
from llmd_gke.laptop.cluster import report, start
from llmd_gke.laptop.cluster.layout import Layout
from llmd_gke.laptop.cluster.processes import PROGRAMS
from llmd_gke.laptop.errors import Problem
from llmd_gke.laptop.gateway.crds import upstream
from llmd_gke.laptop.paths import Places
from llmd_gke.laptop.rehearsal.environment import is_proxy
from llmd_gke.laptop.rehearsal.lock import exclusive
from llmd_gke.laptop.spaces import enter, find

app = typer.Typer(help="The cluster of a laptop cloud alone.", no_args_is_help=True, pretty_exceptions_enable=False)
Only = Annotated[list[str] | None, typer.Option("--only", help="Start these processes only; may be repeated.")]


def places() -> Places:
    """The laptop cloud of this clone, or of ``$LLMD_GKE_HOME``."""
    return Places.of(kind="laptop")


@app.command("start")
def start_(only: Only = None) -> None:
    """Start the namespaces and the control plane, unless they run."""
    here, console = places(), Console()
    wanted = [name for name in PROGRAMS if only is None or name in only]
    with exclusive(here, "cluster start"):
        programs.ensure(wanted, console)
        if only is None or "gateway" in only:
            upstream.prepare(Layout(here.home).crds)
        start.start(here, {name: programs.path(name) for name in wanted}, console, only)
    report.show(here, console)


@app.command()
def stop() -> None:
    """End everything inside; what etcd holds is kept."""
    here = places()
    with exclusive(here, "cluster stop"):
        ran = start.stop(here)
    print("Stopped." if ran else "Nothing ran.")


@app.command()
def status() -> None:
    """Show what runs, its memory, its restarts and where the logs are."""
    raise typer.Exit(0 if report.show(places(), Console()) else 1)


@app.command(
    "exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []}
)
def exec_(words: Annotated[list[str], typer.Argument(metavar="COMMAND...")]) -> None:
    """Run a command inside, as `kubectl get nodes`; KUBECONFIG is the administrator's."""
    here = places()
    present = find.running(here.home)
    if present is None:
        raise Problem(f"No laptop cloud runs in {here.home}.\nFix: python -m llmd_gke.laptop cluster start")
    import os

    layout = Layout(here.home)
    kept = {name: value for name, value in os.environ.items() if not is_proxy(name)}
    environment = {**kept, "KUBECONFIG": str(layout.kubeconfig), "LLMD_GKE_HOME": str(here.home)}
    environment["PATH"] = f"{here.wrapper}{os.pathsep}{environment.get('PATH', os.defpath)}"
    raise typer.Exit(subprocess.run(enter.command(present.init.pid, words), env=environment, check=False).returncode)
