"""What `make up`, `make preview` and `make down` do, step by step."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from llmd_gke.laptop.engine import choose
from llmd_gke.laptop.errors import Problem, SetUpFailed
from llmd_gke.laptop.paths import CLONE, Places, cache_folder
from llmd_gke.laptop.rehearsal import cloud, config, home, interlock, processes, recovery, state
from llmd_gke.laptop.rehearsal.environment import clean
from llmd_gke.laptop.rehearsal.lock import exclusive
from llmd_gke.laptop.rehearsal.runner import STOPPED, Runner
from llmd_gke.laptop.rehearsal.settings import secrets_of

SUMMARY = "llmd_gke.operations.summary"


def say(console: Console, text: str) -> None:
    """One paragraph for the user, never broken into lines of its own."""
    console.print(text, highlight=False, soft_wrap=True, markup=False)


def set_up(places: Places, console: Console, stack: str | None = None) -> Runner:
    """The engine and the rehearsal's folder, ready. The stack's summary is shown while something is built."""
    engine = choose.ensure(cache_folder(), console, _summary(places, stack, console))
    home.prepare(places, engine)
    interlock.check(places)
    return Runner(places, engine)


def _summary(places: Places, stack: str | None, console: Console) -> Callable[[], None]:
    def show() -> None:
        if stack is None or importlib.util.find_spec("llmd_gke.operations") is None:
            return
        environment = clean(os.environ, places) | {"PYTHONPATH": str(CLONE), "COLUMNS": str(console.width)}
        if console.is_terminal and not console.no_color:
            environment["FORCE_COLOR"] = "1"
        command = [sys.executable, "-m", SUMMARY, "--stack", stack]
        done = subprocess.run(
            command,
            cwd=places.root,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            start_new_session=True,
        )
        console.print(Text.from_ansi(done.stdout.rstrip()), soft_wrap=True)

    return show


def up(places: Places, stack: str, console: Console) -> int:
    """Brings a stack up. Returns 0, 1 when the engine reports a failure, 130 when it was told to stop."""
    config.check_name(stack)
    with exclusive(places, "up"):
        required = secrets_of(places, stack)
        runner = set_up(places, console, stack)
        config.sync(places, stack, required)
        recovery.clear_locks(runner, stack, console)
        copy = str(places.stack_copy(stack))
        recovery.settle(runner, stack, copy, console)
        recovery.check_cloud(places, stack)
        ensure_stack(runner, stack, select=True)
        status = runner.stream("up", "--yes", "--suppress-outputs", *_operation(places, stack))
    if status == 0:
        show_outputs(places, stack, console)
        show_next(places, stack, console)
    elif status == STOPPED:
        say(console, f"\nStopped. What was done is kept; `make up STACK={stack}` goes on, `make down` removes it.")
    elif status < 0:
        say(console, f"\nThe engine was killed. `make up STACK={stack}` puts right what it left and goes on.")
    return _status(status)


def preview(places: Places, stack: str, console: Console) -> int:
    """Shows what `up` would do to a stack. Changes neither its state nor any other stack."""
    config.check_name(stack)
    required = secrets_of(places, stack)
    runner = set_up(places, console, stack)
    config.sync(places, stack, required)
    ensure_stack(runner, stack, select=False)
    return _status(runner.stream("preview", *_operation(places, stack)))


def _operation(places: Places, stack: str) -> list[str]:
    """The flags that every operation gets."""
    flags = ["--stack", stack, "--config-file", str(places.stack_copy(stack))]
    if (places.root / "policies" / "PulumiPolicy.yaml").exists():
        flags += ["--policy-pack", str(places.root / "policies")]
    return flags


def ensure_stack(runner: Runner, stack: str, *, select: bool) -> None:
    """Makes the stack if it does not exist; the salt goes to the copy of its file."""
    if stack in state.names(runner.places):
        return
    runner.ask("stack", "init", stack, "--no-select", folder=str(runner.places.config))
    if select:
        runner.ask("stack", "select", stack)


def show_outputs(places: Places, stack: str, console: Console) -> None:
    """The stack's outputs, without secrets."""
    present = state.read(places, stack)
    if present and present.outputs:
        width = max(map(len, present.outputs))
        lines = [f"  {name:<{width}}  {state.shown(value)}" for name, value in present.outputs.items()]
        say(console, "\n".join(["\nOutputs:", *lines]))


def show_next(places: Places, stack: str, console: Console) -> None:
    """What to try next."""
    suffix = "" if stack == "local" else f" STACK={stack}"
    say(
        console,
        f"""
Next:
  edit {places.stack_file(stack).name}, then `make up{suffix}`   only what changed is updated
  make preview STACK=eu4a                    another stack, without credentials
  make shell                                 plain pulumi commands: preview, up, refresh, stack output, destroy
  source {places.env_script}    the same in this shell
  make down                                  removes everything again""",
    )


def down(places: Places, only: str | None, console: Console) -> int:
    """Destroys one stack, or all; then nothing of them runs and nothing is left in a stand-in's cloud."""
    if only is not None:
        config.check_name(only)
    with exclusive(places, "down"):
        names = state.names(places)
        chosen = names if only is None else [name for name in names if name == only]
        status, held = 0, any((one := state.read(places, name)) and one.urns for name in chosen)
        if chosen:
            runner = set_up(places, console)
            for name in chosen:
                status = status or _remove(runner, name, console)
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
    return _status(status)


def _remove(runner: Runner, name: str, console: Console) -> int:
    """Destroys a stack and removes it."""
    places = runner.places
    recovery.clear_locks(runner, name, console)
    if not places.stack_copy(name).exists():
        config.sync(places, name)
    copy = str(places.stack_copy(name))
    if not cloud.objects(places):
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
    there = cloud.objects(places)
    cloud.clear(places)
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


def clear_all(places: Places, console: Console) -> int:
    """Removes the rehearsal's folder, when no stack is up any more."""
    if names := state.names(places):
        raise Problem(f"Stacks exist: {', '.join(names)}.\nFix: `make down`, then `make clean`.")
    import shutil

    shutil.rmtree(places.home, ignore_errors=True)
    say(console, f"Removed {places.home}.")
    return 0


def _status(status: int) -> int:
    """The engine has many statuses; ours are documented in ``--help``."""
    return status if status in (0, STOPPED) else 1


def require_engine(places: Places) -> Runner:
    """An engine that is there already. Raises ``SetUpFailed`` when there is none."""
    engine = choose.ready(cache_folder())
    if engine is None:
        raise SetUpFailed("The engine is not set up yet. Fix: make up")
    home.prepare(places, engine)
    interlock.check(places)
    return Runner(places, engine)
