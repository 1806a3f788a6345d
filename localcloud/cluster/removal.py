"""What `make down CLOUD=laptop` does. Whatever happens, nothing is left in the end: it is all on this machine."""

from __future__ import annotations

import shutil

from rich.console import Console

from llmd_gke.problems import Busy, Problem
from localcloud.cluster import lifecycle
from localcloud.cluster.layout import Layout
from localcloud.common.workdir import Places
from localcloud.workflow import config, processes, recovery, removal, state
from localcloud.workflow.commands import reported, say, set_up
from localcloud.workflow.lock import exclusive
from localcloud.workflow.runner import STOPPED


def down(places: Places, only: str | None, console: Console) -> int:
    """Destroys one stack, or all and then the cluster. Returns 0; 1 when destroying failed; 130 when it was stopped."""
    if only is not None:
        config.check_name(only)
    with exclusive(places, "down"):
        names = state.names(places)
        chosen = [name for name in names if only in (None, name)]
        if only is not None and not chosen:
            say(console, f"Stack {only} does not exist on this laptop cloud. There are: {', '.join(names) or 'none'}.")
        if only is not None:  # all of them go with the cluster, which is on this machine
            for name in chosen:
                removal.refuse_protected(places, name)
        status = _destroy(places, chosen, console)
        if status == STOPPED or (status and only is not None):
            return reported(status)
        if only is None or not state.names(places):
            processes.end(processes.left_over(places))
            _forget(places, console, failed=status != 0)
    if status == 0:
        left = state.names(places)
        say(console, f"Nothing is left of {only}." if left else "Nothing is left: no stack, no process, no cluster.")
    return reported(status)


def _destroy(places: Places, chosen: list[str], console: Console) -> int:
    """Destroys stacks; 0 when there is nothing to destroy, or nothing to destroy it with."""
    held = [name for name in chosen if (one := state.read(places, name)) and one.urns]
    if not held:
        return 0
    if not lifecycle.has_data(places):
        say(console, "The cluster's data are gone; only what the stacks remember is removed.")
        return 0
    try:
        runner = set_up(places, console)
        for name in chosen:
            recovery.clear_locks(runner, name, console)
            if status := removal.remove(runner, name, console):
                return status
    except Busy:
        raise
    except Problem as problem:
        say(console, str(problem))
        return 1
    return 0


def _forget(places: Places, console: Console, *, failed: bool) -> None:
    """Stops everything and removes what was kept: cluster, state, the stand-in's cloud. Logs stay after a failure."""
    if failed:
        lifecycle.explain(places, console)
        kept = places.home / "last-logs"
        shutil.rmtree(kept, ignore_errors=True)
        if (logs := Layout(places.home).logs).is_dir():
            shutil.copytree(logs, kept)
        say(
            console,
            "Destroying did not succeed (above). The laptop cloud is removed all the same, with all that was in it; on "
            f"Google Cloud something would be left now. Logs are kept in {kept}.",
        )
    lifecycle.end(places)
    for folder in (places.state, places.cloud, places.config):
        shutil.rmtree(folder, ignore_errors=True)
