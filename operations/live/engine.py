"""Runs the engine to deploy, preview and destroy a stack, with its output in a log."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from llmd_common.child_process import follow
from operations import outputs
from operations.live import engine_events
from operations.live.report import without_secrets
from operations.options import Cloud
from operations.target import Target

STOP = ((signal.SIGINT, 120), (signal.SIGTERM, 20), (signal.SIGKILL, 20))
"""Signals that stop the engine, each with the seconds to wait after it: two minutes to stop cleanly."""


OUT_OF_TIME = 124
"""Status of an engine that was stopped after its time: it may have been killed, and then has left its lock."""


def was_killed(status: int) -> bool:
    """Whether an engine that ended with this status may have left its lock."""
    return status < 0 or status == OUT_OF_TIME


def up(target: Target, events: Path | None = None, targets: Sequence[str] = ()) -> list[str]:
    """The command that deploys the stack. ``events``: the file for the engine's events, on Google Cloud only.
    ``targets``: patterns of the only resources that are changed (default: all).
    """
    flags = [word for one in targets for word in ("--target", one)]
    if target.cloud is Cloud.GOOGLE:
        command = ["pulumi", "up", "--yes", "--non-interactive", "--stack", target.stack, "--policy-pack", "policies"]
        return [*command, *flags, *([engine_events.FLAG, str(events)] if events else [])]
    command = ["make", "up", f"STACK={target.stack}", f"CLOUD={target.cloud.value}"]
    return [*command, f"ARGS={shlex.join(flags)}"] if flags else command


def preview(target: Target) -> list[str]:
    """The command that shows what :func:`up` would do on Google Cloud."""
    return ["pulumi", "preview", "--non-interactive", "--stack", target.stack, "--policy-pack", "policies"]


def unchanged(target: Target) -> list[str]:
    """The command that shows whether a second ``up`` changes anything: a preview if ``up`` could cost money.

    Otherwise a whole update, also where a preview would be enough, since it is judged by the engine's history.
    """
    if target.cloud is Cloud.GOOGLE:
        return ["pulumi", "preview", "--expect-no-changes", "--non-interactive", "--stack", target.stack]
    return [*up(target), "ARGS=--always"]


def was_unchanged(target: Target, status: int) -> bool:
    """Whether the run of :func:`unchanged` with exit status ``status`` found nothing to change.

    A preview fails if there are changes. An ``up`` succeeds in both cases: there, the engine's history must contain
    only ``same`` steps. Raises as :func:`operations.outputs.last_steps` does.
    """
    if status or target.cloud is Cloud.GOOGLE:
        return status == 0
    return set(outputs.last_steps(target)) == {"same"}


def down(target: Target) -> list[str]:
    """The command that destroys it."""
    if target.cloud is Cloud.GOOGLE:
        return ["pulumi", "destroy", "--yes", "--non-interactive", "--stack", target.stack]
    return ["make", "down", f"STACK={target.stack}", f"CLOUD={target.cloud.value}"]


def cancel(target: Target) -> list[str]:
    """The command that removes the lock of a killed engine, which would keep the destroy from starting.

    Empty for local clouds, whose `make down` removes the locks of dead engines.
    """
    return ["pulumi", "cancel", "--yes", target.stack] if target.cloud is Cloud.GOOGLE else []


def run(command: Sequence[str], target: Target, log: Path, seconds: float, say: Callable[[str], None]) -> int:
    """Runs a command of the engine; its output goes to ``log`` without secrets, its newest line to ``say``.

    Returns its exit status, :data:`OUT_OF_TIME` if it was stopped after ``seconds``, below 0 if it was killed. On
    Ctrl-C the engine is stopped cleanly, so that its state is correct for the next step, and then the interrupt is
    raised.
    """

    def hear(line: str) -> None:
        clean = without_secrets(line)
        with log.open("a", encoding="utf-8") as file:
            file.write(clean)
        if clean.strip():
            say(" ".join(clean.split())[:100])

    log.touch()  # the log is read even if there was no output
    environment = os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true", **engine_events.ENVIRONMENT}
    try:
        return follow(command, target.root, environment, hear, stop=STOP, group=True, seconds=seconds)
    except subprocess.TimeoutExpired:
        return OUT_OF_TIME
