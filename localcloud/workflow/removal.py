"""The steps of `make down`: destroys stacks, and ensures that nothing is left."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from llmd_common.problems import Problem
from localcloud.common.lock import exclusive
from localcloud.common.workdir import Workdir
from localcloud.product import protection
from localcloud.workflow import backend, cloud_files, config, failures, processes, recovery, state
from localcloud.workflow.commands import reported, set_up
from localcloud.workflow.runner import STOPPED, Runner
from localcloud.workflow.say import say


def down(workdir: Workdir, only: str | None, console: Console) -> int:
    """Destroys one stack or all, and then stops their processes and removes their clouds.

    Returns 0; 1 if destroying failed or left something; 130 if it was stopped.
    """
    if only is not None:
        config.check_name(only)
    cloud, disposable = backend.of(workdir), workdir.traits.disposable
    with exclusive(workdir, "down"):
        names = state.names(workdir)
        forgotten = (only is None or names in ([], [only])) and cloud_files.forget_damaged(workdir, console)
        chosen = [name for name in names if only in (None, name)]
        if only is not None and not chosen:
            there = ", ".join(names) or "none"
            say(console, f"Stack {only} does not exist in this {workdir.label}. Its stacks: {there}.")
        if only is not None or not disposable:  # all stacks are removed with a disposable cloud
            for name in chosen:
                refuse_protected(workdir, name)
        held = [name for name in chosen if (one := state.read(workdir, name)) and one.urns]
        if forgotten and disposable:  # there is nothing left to destroy it with
            held = []
        if held:
            cloud_files.check(workdir)
        present = held if disposable else chosen
        status = cloud.destroy(present, console) if present else 0
        everything = disposable and only is None
        ended = status != STOPPED and (everything or (not status and not state.names(workdir)))
        if ended or not disposable:  # an engine in a shell of a disposable cloud may work on another stack
            processes.end(processes.left_over(workdir))
        if ended:
            for lock in state.locks(workdir, only) if only is not None else ():  # of an engine that died at its end
                if not recovery.is_alive(lock, workdir):
                    lock.file.unlink(missing_ok=True)
            status = cloud.forget(console, failed=status != 0, had_stacks=bool(held)) or status
    if status == STOPPED:
        again = workdir.make("down", only)
        say(console, f"\nStopped. Some resources were removed, the rest is kept; `{again}` continues.")
    if status == 0:
        left = state.names(workdir)
        say(console, f"Nothing is left of {only}." if left else f"Nothing is left: {workdir.traits.removed}.")
    return reported(status)


def destroy(workdir: Workdir, chosen: Sequence[str], console: Console) -> int:
    """Destroys stacks, one after the other. Returns 0, or the status of the first one that did not succeed."""
    runner = set_up(workdir, console)
    for name in chosen:
        status = remove(runner, name, console)
        if status == STOPPED and name == chosen[-1] and name not in state.names(workdir):
            return 0  # it was the last one, and everything was destroyed before the engine heard of the signal
        if status:
            return status
    return 0


def refuse_protected(workdir: Workdir, name: str) -> None:
    """Raises ``Problem`` for a protected stack, before any of it is deleted.

    A destroy without a preview would remove its models before it reached the cluster.
    """
    present = state.read(workdir, name)
    if present and present.protected and cloud_files.objects(workdir):
        again, shell = workdir.make("down", name), workdir.make("shell")
        raise Problem(protection.refusal(name, present.protected, destroy=again, shell=shell))


def remove(runner: Runner, name: str, console: Console) -> int:
    """Destroys a stack and removes it. Returns 130 after a signal, also if nothing is left of the stack."""
    workdir, stopped = runner.workdir, False
    recovery.clear_locks(runner, name, console)
    if not workdir.stack_copy(name).exists():
        config.sync(workdir, name)
    copy = str(workdir.stack_copy(name))
    if not cloud_files.objects(workdir):
        say(console, f"Stack {name}: both clouds are empty; only its state is removed.")
    else:
        recovery.settle(runner, name, copy, console)
        present = state.read(workdir, name)
        if present and present.urns:
            log = failures.log(workdir)
            log.unlink(missing_ok=True)
            command = ("destroy", "--yes", "--skip-preview", "--stack", name, "--config-file", copy)
            status = runner.stream(*command, events=log)
            after = state.read(workdir, name)
            remains = bool(after and after.urns)
            if status == 0 and remains:  # an engine that is cancelled while it deletes ends with 0
                status = STOPPED
            stopped = status == STOPPED
            if status and (remains or not stopped):
                again = workdir.make("down", name)
                if status < 0:
                    say(console, f"\nThe engine was killed. `{again}` repairs what it left and continues.")
                elif status != STOPPED:
                    failures.say_causes(workdir, name, console)
                    if not workdir.traits.disposable:
                        say(
                            console,
                            "Some resources were removed, the rest is kept.\n"
                            f"Fix: correct the cause named in the error above, then `{again}`, which continues.",
                        )
                return status
    runner.ask("stack", "rm", name, "--yes", "--force", "--remove-backups", folder=str(workdir.config))
    return STOPPED if stopped else 0
