"""Cleans up after a killed engine: its lock, its child processes, and its unfinished operations.

A create that was under way is the delicate one. The engine keeps it as pending forever (pulumi/pulumi v3.259.0,
pkg/backend/snapshot.go), and a plain `up` would create the object a second time. So each is looked up in the cloud: an
object that exists is taken over into the state with its id, one that does not is forgotten; a refresh then reads what
was taken over. (``pulumi refresh --import-pending-creates`` does not do this: it marks the operation as an import,
which nothing in that version carries out, and the operation is dropped.) Other pending operations are settled by the
refresh.
"""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Mapping
from typing import cast

from rich.console import Console

from llmd_common.problems import Busy, Stale
from localcloud.common.workdir import Workdir
from localcloud.linux_namespaces import discover
from localcloud.workflow import backend, cloud_files, processes, state
from localcloud.workflow.runner import Runner
from localcloud.workflow.say import say

CREATING = "creating"


def is_alive(lock: state.Lock, workdir: Workdir) -> bool:
    """Whether the engine that made the lock may still run. Its process number is that of its own namespace."""
    if lock.pid == 0:
        return False
    if lock.host != socket.gethostname():
        return True
    return any(lock.pid in (one.pid, discover.inner_pid(one.pid)) for one in processes.engines(workdir))


def clear_locks(runner: Runner, stack: str, console: Console) -> None:
    """Removes the locks of dead engines and ends their leftover processes. Raises ``Busy`` if the engine is alive."""
    held = state.locks(runner.workdir, stack)
    for lock in held:
        if is_alive(lock, runner.workdir):
            where = "" if lock.host == socket.gethostname() else f" on {lock.host}"
            raise Busy(
                f"Process {lock.pid}{where} has been working on stack {stack} since {lock.since:%H:%M:%S} UTC.\n"
                f"Fix: wait until it exits, then run the command again. (Lock: {lock.file})"
            )
    if not processes.engines(runner.workdir):
        processes.end(processes.left_over(runner.workdir))
    if held:
        for done in state.mend(runner.workdir, stack):
            say(console, f"recovery: {done}.")
        runner.ask("cancel", "--yes", stack)
        numbers = ", ".join(str(lock.pid) for lock in held)
        say(console, f"recovery: removed the lock of an engine that is no longer running (process {numbers}).")


def settle(runner: Runner, stack: str, config_file: str, console: Console) -> None:
    """Settles pending operations without creating anything twice. Raises ``Stale`` for those that it cannot settle."""
    present = state.read(runner.workdir, stack)
    if present is None or not present.pending:
        return
    taken_over: dict[str, Mapping[str, object]] = {}
    lines: list[str] = []
    for one in present.pending:
        name = one.urn.rpartition("::")[2]
        if one.kind != CREATING:
            lines.append(f"  {name}: {one.kind} was in progress; the state is refreshed from the cloud")
        elif one.urn in present.urns:
            lines.append(f"  {name}: was created, and the state contains it")
        elif created := backend.of(runner.workdir).find_created(one):
            taken_over[one.urn] = created
            lines.append(f"  {name}: was created, but the state lacked it; imported with ID {created['id']}")
        else:
            lines.append(f"  {name}: was not created; this run creates it")
    say(console, "\n".join(["recovery: an earlier run was interrupted during:", *lines]))
    edit(runner, stack, taken_over)
    targets = [word for urn in taken_over for word in ("--target", urn)]
    if all(one.kind == CREATING for one in present.pending):
        if not targets:
            return
    else:
        targets = []
    runner.ask("refresh", "--yes", "--skip-preview", "--stack", stack, "--config-file", config_file, *targets)
    after = state.read(runner.workdir, stack)
    if lost := sorted(set(taken_over) - set(after.urns if after else ())):
        raise Stale(
            "These objects exist in the cloud but could not be imported:\n  " + "\n  ".join(lost) + "\n"
            f"Fix: `{runner.workdir.make('down')}`, which removes them, then `{runner.workdir.make('up')}`."
        )


def edit(runner: Runner, stack: str, taken_over: Mapping[str, Mapping[str, object]]) -> None:
    """Adds the resources of completed creates (``taken_over``) to the state, and removes all pending operations.

    Uses ``stack export`` and ``stack import``, so that secrets stay encrypted and the engine checks the result.
    """
    exported = cast("dict[str, object]", json.loads(runner.ask("stack", "export", "--stack", stack)))
    deployment = cast("dict[str, object]", exported["deployment"])
    pending = cast("list[dict[str, object]]", deployment.pop("pending_operations", None) or [])
    resources = cast("list[dict[str, object]]", deployment.get("resources") or [])
    for operation in pending:
        resource = cast("dict[str, object]", operation["resource"])
        if identity := taken_over.get(str(resource["urn"])):
            # Without outputs the refresh is an import: every property that the cloud shows becomes an input, and GKE
            # shows some that upstream's own validation rejects (windowsNodeConfig without a version).
            resources.append({**resource, "outputs": resource.get("inputs"), **identity})
    deployment["resources"] = resources
    with tempfile.NamedTemporaryFile("w", dir=runner.workdir.home, prefix="state-", suffix=".json") as file:
        json.dump(exported, file)
        file.flush()
        runner.ask("stack", "import", "--stack", stack, "--file", file.name)


def check_cloud(workdir: Workdir, stack: str) -> None:
    """Raises ``Stale`` if state or cloud was removed without the other."""
    present = state.read(workdir, stack)
    there = cloud_files.objects(workdir)
    if present and present.ids and not there:
        raise Stale(
            f"Stack {stack} has {len(present.ids)} objects in its state, but the clouds in "
            f"{workdir.cloud} are empty: their contents were removed by hand.\n"
            f"Fix: `{workdir.make('down')}` removes the stack's state, then `{workdir.make('up')}`."
        )
    if there and not any((one := state.read(workdir, name)) and one.urns for name in state.names(workdir)):
        raise Stale(
            f"The clouds in {workdir.cloud} hold {len(there)} objects that belong to no stack: a state "
            f"file was removed by hand.\nFix: `{workdir.make('down')}` removes them, then `{workdir.make('up')}`."
        )
