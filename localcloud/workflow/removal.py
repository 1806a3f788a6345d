"""What `make down` does: destroys stacks, and sees to it that nothing is left."""

from __future__ import annotations

from rich.console import Console

from llmd_gke.problems import Problem
from localcloud.common.workdir import Places
from localcloud.workflow import cloud_files, config, processes, recovery, state
from localcloud.workflow.commands import reported, say, set_up
from localcloud.workflow.lock import exclusive
from localcloud.workflow.runner import Runner


def down(places: Places, only: str | None, console: Console) -> int:
    """Destroys one stack, or all; then nothing of them runs and nothing is left in a stand-in's cloud."""
    if only is not None:
        config.check_name(only)
    with exclusive(places, "down"):
        names = state.names(places)
        chosen = names if only is None else [name for name in names if name == only]
        for name in chosen:
            refuse_protected(places, name)
        status, held = 0, any((one := state.read(places, name)) and one.urns for name in chosen)
        if chosen:
            runner = set_up(places, console)
            for name in chosen:
                status = status or remove(runner, name, console)
                if status:
                    break
        elif only is not None:
            say(console, f"Stack {only} does not exist in this rehearsal. There are: {', '.join(names) or 'none'}.")
        left = processes.left_over(places)
        processes.end(left)
        if status == 0 and not state.names(places):
            status = _forget_clouds(places, console, had_stacks=held)
    if status == 0:
        say(
            console,
            "Nothing is left: "
            + ("no stack, no object in a cloud, no process." if not state.names(places) else f"of {only}."),
        )
    return reported(status)


def refuse_protected(places: Places, name: str) -> None:
    """Raises ``Problem`` for a stack that is protected, before anything of it is gone.

    A destroy without a preview would remove its models and only then come to the cluster.
    """
    present = state.read(places, name)
    if present and present.protected and cloud_files.objects(places):
        raise Problem(
            f"Stack {name} is protected: {', '.join(present.protected)}. Nothing was removed.\n"
            f"Fix: set protect: false and deletionProtection: false below llmd-gke:cluster in "
            f"{places.stack_file(name).name}, then `{places.make('shell')}`, `pulumi up --stack {name}`, `exit` and "
            f"`{places.make('down', name)}`."
        )


def remove(runner: Runner, name: str, console: Console) -> int:
    """Destroys a stack and removes it."""
    places = runner.places
    recovery.clear_locks(runner, name, console)
    if not places.stack_copy(name).exists():
        config.sync(places, name)
    copy = str(places.stack_copy(name))
    if not cloud_files.objects(places):
        say(console, f"Stack {name}: the stand-ins' clouds are empty; only its state is removed.")
    else:
        recovery.settle(runner, name, copy, console)
        present = state.read(places, name)
        if (
            present
            and present.urns
            and (status := runner.stream("destroy", "--yes", "--skip-preview", "--stack", name, "--config-file", copy))
        ):
            return status
    runner.ask("stack", "rm", name, "--yes", "--force", "--remove-backups", folder=str(places.config))
    return 0


def _forget_clouds(places: Places, console: Console, *, had_stacks: bool) -> int:
    """With no stack left there must be no object either; what no stack knew is removed and named."""
    there = cloud_files.objects(places)
    cloud_files.clear(places)
    if there and had_stacks:
        names = "\n".join(f"  {entry.get('type')} {ident}" for ident, entry in there.items())
        say(
            console,
            f"Destroying every stack left these objects in the stand-ins' clouds; they were removed now:\n{names}",
        )
        say(console, "A destroy on Google Cloud might leave them, too: please report it.")
        return 1
    if there:
        say(console, f"Removed {len(there)} objects that no stack knew from the stand-ins' clouds.")
    return 0
