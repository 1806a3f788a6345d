"""The commands behind the Makefile: ``python -m localcloud --help``."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer
from rich.console import Console

from llmd_common.bootstrap import disk_problem
from llmd_common.problems import BadInput, Problem, SetUpFailed
from llmd_common.unread_output import drop_unread_output
from localcloud import binaries
from localcloud.cluster import cli as cluster_cli
from localcloud.common.workdir import CLOUD, KINDS, CloudKind, Workdir, cache_folder, kind_of_environment
from localcloud.google_api import cli as google_cli
from localcloud.pulumi_cli import resolve
from localcloud.workflow import backend, cloud_files, commands, new_stack, removal, shell, state
from localcloud.workflow.say import say

STATUSES = """
Exit status: 0 done · 1 the engine reported a failure · 2 invalid arguments or settings · 3 the engine could not be set
up · 4 rejected, a real cloud could be reached · 5 another run is active · 6 leftovers of an earlier run require a
decision · 130 stopped with Ctrl-C.
"""

app = typer.Typer(
    help="Run the program with the real Pulumi engine: in the rehearsal, with stand-ins for Google Cloud and "
    "Kubernetes, or on the laptop cloud, with real Kubernetes and KServe.\n\n" + STATUSES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
StackOption = Annotated[
    str, typer.Option("--stack", "-s", help="Name of the stack; its settings are in Pulumi.STACK.yaml.")
]
app.add_typer(cluster_cli.app, name="cluster")
app.add_typer(google_cli.app, name="google")
console = Console()
chosen = Workdir.of()


@app.callback()
def choose_cloud(
    context: typer.Context,
    cloud: Annotated[str, typer.Option(help=f"One of: {', '.join(KINDS)}.")] = kind_of_environment(),
) -> None:
    """Selects the cloud for the command."""
    global chosen
    kind: CloudKind | None = next((one for one in KINDS if one == cloud), None)
    if kind is None:
        raise BadInput(f"CLOUD={cloud} is not a local cloud. Allowed: {', '.join(KINDS)}.\nFix: CLOUD=rehearsal")
    if context.invoked_subcommand == "cluster":  # the rehearsal has none
        kind = "laptop"
    chosen = Workdir.of(kind=kind)
    os.environ[CLOUD] = kind  # the settings and all started processes read it
    os.environ["LLMD_GKE_HOME"] = str(chosen.home)


def workdir() -> Workdir:
    """The cloud of this clone, or the one in LLMD_GKE_ROOT and LLMD_GKE_HOME."""
    return chosen


@app.command()
def up(
    *,
    stack: StackOption = "local",
    always: Annotated[bool, typer.Option("--always", help="Update even if a preview shows no change.")] = False,
    target: Annotated[
        list[str] | None, typer.Option("--target", help="Change only these resources (patterns).")
    ] = None,
) -> None:
    """Create or update a stack; set up the engine first if necessary."""
    raise typer.Exit(commands.up(workdir(), stack, console, always=always, targets=target or ()))


@app.command()
def new(stack: StackOption = "local") -> None:
    """Create a stack file to start from; see docs/stacks.md."""
    commands.say(console, new_stack.write(workdir().root, stack))


@app.command()
def preview(stack: StackOption = "local") -> None:
    """Show what `up` would do. Needs no credentials and no secrets."""
    raise typer.Exit(commands.preview(workdir(), stack, console))


@app.command()
def down(
    stack: Annotated[str | None, typer.Option("--stack", "-s", help="Only this stack.")] = None,
) -> None:
    """Destroy all stacks and stop everything."""
    raise typer.Exit(removal.down(workdir(), stack, console))


@app.command("shell")
def shell_() -> None:
    """Open a shell for plain `pulumi` commands, and for `kubectl` on the laptop cloud."""
    here = workdir()
    commands.set_up(here, console)
    if not state.names(here):
        say(console, "No stack exists here yet. Before `pulumi preview`: `make up`, or here `pulumi stack init local`")
    raise typer.Exit(shell.run(here))


@app.command()
def env() -> None:
    """Print the path of a file to source in a shell, for plain `pulumi` commands."""
    here = workdir()
    commands.set_up(here, Console(stderr=True))
    print(here.env_script)


@app.command()
def setup(quiet: Annotated[bool, typer.Option(help="Print nothing if everything is already set up.")] = False) -> None:
    """Set up the engine, for the laptop cloud also its programs, and do nothing else."""
    engine = backend.of(workdir()).install(console)
    if not quiet:
        say(console, f"engine: {engine.version}, {engine.origin} ({engine.pulumi})")


@app.command("programs")
def programs_(
    wanted: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Only these programs. Default: all programs of the laptop cloud."),
    ] = None,
) -> None:
    """Build missing programs of the laptop cloud, and list the path of each."""
    chosen_programs = binaries.chosen(wanted or ())
    binaries.ensure(chosen_programs, console)
    for name in chosen_programs:
        say(console, f"{name:<27} {binaries.path(name)}")


@app.command()
def status() -> None:
    """Show the engine, the stacks, the contents of their clouds, and running processes."""
    here = workdir()
    engine = resolve.ready(cache_folder())
    say(console, f"engine   {f'{engine.version}, {engine.origin} ({engine.pulumi})' if engine else 'not set up yet'}")
    say(console, f"folder   {here.home}")
    for name in state.names(here):
        present = state.read(here, name)
        if present:
            pending = f", {len(present.pending)} operations unfinished" if present.pending else ""
            say(console, f"stack    {name}: {len(present.urns)} resources{pending}")
    say(console, f"clouds   {len(cloud_files.objects(here))} objects")
    backend.of(here).show_status(console)


@app.command()
def clean() -> None:
    """Remove the folder of the rehearsal or laptop cloud; keep the programs in the cache."""
    raise typer.Exit(commands.clear_all(workdir(), console))


def main() -> int:
    """Runs a command; an expected failure prints its message and sets the exit status."""
    drop_unread_output()
    try:
        app(prog_name="python -m localcloud", standalone_mode=True)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return problem.status
    except OSError as error:
        if not (problem := disk_problem(error)):
            raise
        print(problem, file=sys.stderr)
        return SetUpFailed.status
    except SystemExit as ended:
        # An interrupt becomes typer's `Exit`. After a signal that the engine heard, a command has said more.
        if isinstance(getattr(ended.__context__, "__cause__", None), KeyboardInterrupt):
            print("\nStopped. The next run continues from here.", file=sys.stderr)
        raise
    return 0
