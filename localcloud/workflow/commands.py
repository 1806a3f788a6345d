"""The steps of `make up` and `make preview`, in the rehearsal and on the laptop cloud."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from llmd_common.problems import Problem
from localcloud.common.lock import exclusive
from localcloud.common.workdir import Workdir
from localcloud.product.settings import command_to_set, required_secrets
from localcloud.workflow import backend, config, event_log, failures, interlock, pack, recovery, state, unchanged
from localcloud.workflow.runner import STOPPED, Runner, Watch
from localcloud.workflow.say import say
from localcloud.workflow.settings import settings_of


def set_up(workdir: Workdir, console: Console, stack: str | None = None) -> Runner:
    """Prepares engine, folder and cloud for a stack; returns the runner."""
    cloud = backend.of(workdir)
    cloud.check(stack)
    engine = cloud.install(console, stack)
    cloud.start(engine, console, stack)
    interlock.check(workdir)
    return Runner(workdir, engine)


def up(workdir: Workdir, stack: str, console: Console, *, always: bool = False, targets: Sequence[str] = ()) -> int:
    """Deploys a stack, of it only ``targets`` if there are any; ``always`` with an update, also if a preview shows no
    change.

    Returns 0, 1 if the engine reports a failure, 130 if it was stopped.
    """
    config.check_name(stack)
    pack.folder(workdir)
    cloud = backend.of(workdir)
    with exclusive(workdir, "up"):
        required = required_secrets(settings_of(workdir, stack))
        runner = set_up(workdir, console, stack)
        say_missing(config.sync(workdir, stack, required, partial(_say_note, console)), workdir, stack, console)
        recovery.clear_locks(runner, stack, console)
        copy = str(workdir.stack_copy(stack))
        recovery.settle(runner, stack, copy, console)
        recovery.check_cloud(workdir, stack)
        ensure_stack(runner, stack, select=True)
        status = cloud.update(partial(_update, runner, stack, console, always=always, targets=targets), console)
    again, down = workdir.make("up", stack), workdir.make("down")
    if status == 0:
        show_outputs(workdir, stack, console)
    outcome = cloud.after_update(stack, status, console)
    if status == 0:
        show_next(workdir, stack, console)
    elif status == STOPPED:
        say(console, f"\nStopped. Finished work is kept; `{again}` continues, `{down}` removes everything.")
    elif status < 0:
        say(console, f"\nThe engine was killed. `{again}` repairs what it left and continues.")
    else:
        say(
            console,
            f"Finished work is kept.\nFix: correct the cause named in the error above, then `{again}`; `{down}` "
            "removes everything.",
        )
    return reported(outcome)


def _update(
    runner: Runner,
    stack: str,
    console: Console,
    events: Path | None = None,
    watch: Watch | None = None,
    *,
    always: bool = False,
    targets: Sequence[str] = (),
) -> int:
    """Runs an update, see :class:`~localcloud.workflow.backend.Update`; only a preview if that shows no change."""
    workdir, log = runner.workdir, events or failures.log(runner.workdir)
    digest = unchanged.inputs(workdir, stack, runner.engine.pulumi)
    status = None
    if not always and not targets and unchanged.is_complete(workdir, stack, digest):
        status = _without_changes(runner, stack, console, log, watch)
    if status is None:
        log.unlink(missing_ok=True)
        flags = [*_update_flags(workdir, stack), *(word for one in targets for word in ("--target", one))]
        status = runner.stream("up", "--yes", *flags, events=log, watch=watch)
        if not status and not targets:
            unchanged.record(workdir, stack, digest)
    if events and events.exists():
        shutil.copy(events, failures.log(workdir))
    return status


def _without_changes(runner: Runner, stack: str, console: Console, log: Path, watch: Watch | None) -> int | None:
    """Looks for changes with a preview. Returns the status with which the update ends, ``None`` if it has to run:
    something changes, or the preview failed.
    """
    log.unlink(missing_ok=True)
    say(console, f"Looking for changes of stack {stack} ...")
    status = runner.stream("preview", *_update_flags(runner.workdir, stack), events=log, watch=watch)
    if status == STOPPED or status < 0:
        return status
    if status or not unchanged.changes_nothing(log):
        return None
    say(console, "Nothing to update.")
    return 0


def preview(workdir: Workdir, stack: str, console: Console) -> int:
    """Shows what `up` would do to a stack. Changes neither its state nor any other stack."""
    config.check_name(stack)
    pack.folder(workdir)
    required = required_secrets(settings_of(workdir, stack))
    runner = set_up(workdir, console, stack)
    say_missing(config.sync(workdir, stack, required, partial(_say_note, console)), workdir, stack, console)
    ensure_stack(runner, stack, select=False)
    log = failures.log(workdir)
    log.unlink(missing_ok=True)
    status = runner.stream("preview", *_operation(workdir, stack), events=log)
    if status == 0 and (names := event_log.interrupting(log)):
        where = "docs/stacks.md#changing-a-stack says for how long, and how to go on."
        say(console, f"Warning: {', '.join(names)} will be replaced. Models do not answer meanwhile.\n{where}")
    if status == STOPPED:
        say(console, f"\nStopped. A preview changes nothing; `{workdir.make('preview', stack)}` starts again.")
    return reported(status)


def _say_note(console: Console, note: str) -> None:
    say(console, f"Note: {note}")


def say_missing(secrets: Sequence[str], workdir: Workdir, stack: str, console: Console) -> None:
    """Names secrets that have only a placeholder here, and without which Google Cloud would reject the stack."""
    for key in secrets:
        fix = f"Fix: {command_to_set(key, stack)}"
        text = (
            f"{key} is not set: the {workdir.label} uses a placeholder, but on Google Cloud the stack is "
            "rejected without it."
        )
        say(console, f"Warning: {text}\n{fix}")


def _update_flags(workdir: Workdir, stack: str) -> list[str]:
    """The flags of an update and of its preview: this program prints the outputs itself."""
    return ["--suppress-outputs", *_operation(workdir, stack)]


def _operation(workdir: Workdir, stack: str) -> list[str]:
    """The flags that every operation gets."""
    return ["--stack", stack, "--config-file", str(workdir.stack_copy(stack)), *pack.flags(workdir)]


def ensure_stack(runner: Runner, stack: str, *, select: bool) -> None:
    """Creates the stack if it does not exist; the salt goes to the copy of its file."""
    if stack in state.names(runner.workdir):
        return
    runner.ask("stack", "init", stack, "--no-select", folder=str(runner.workdir.config))
    if select:
        runner.ask("stack", "select", stack)


def show_outputs(workdir: Workdir, stack: str, console: Console) -> None:
    """Prints the stack's outputs, without secrets."""
    present = state.read(workdir, stack)
    if present and present.outputs:
        width = max(map(len, present.outputs))
        margin = "\n" + " " * (width + 4)
        texts = {name: state.shown(value).replace("\n", margin) for name, value in present.outputs.items()}
        lines = [f"  {name:<{width}}  {text}" for name, text in texts.items()]
        say(console, "\n".join(["\nOutputs:", *lines]))


def show_next(workdir: Workdir, stack: str, console: Console) -> None:
    """Prints commands to try next."""
    tips = {
        f"edit {workdir.stack_file(stack).name}, then `{workdir.make('up', stack)}`": "update only what changed",
        workdir.make("preview", "eu4a"): "another stack, without credentials",
        workdir.make("shell"): "plain pulumi commands: preview, up, refresh, stack output, destroy",
    }
    tips[f"source {shlex.quote(str(workdir.env_script))}"] = "pulumi in this shell"
    tips.update(backend.of(workdir).tips())
    tips[workdir.make("down")] = "remove everything"
    width = max(map(len, tips))
    lines = [f"  {do:<{width}}  {what}" for do, what in tips.items()]
    if max(map(len, lines)) > console.width:  # two lines each are easier to read than lines that break anywhere
        lines = [f"  {do}\n      {what}" for do, what in tips.items()]
    say(console, "\n".join(["\nNext:", *lines]))


def clear_all(workdir: Workdir, console: Console) -> int:
    """Removes the folder if no stack is deployed any more. Raises ``Busy`` while another run uses it."""
    with exclusive(workdir, "clean"):
        if names := state.names(workdir):
            raise Problem(f"Stacks exist: {', '.join(names)}.\nFix: `{workdir.make('down')}`, then `make clean`.")
        backend.of(workdir).clear()
    say(console, f"Removed {workdir.home}.")
    return 0


def reported(status: int) -> int:
    """Converts an exit status of the engine to ours, as documented in ``--help``."""
    return status if status in (0, STOPPED) else 1
