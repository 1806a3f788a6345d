"""Stopping and starting one model: the switch in the stack file, and the update that follows."""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from operations.ending_in_order import ending_in_order
from operations.exits import BadInput, Failed, Refused
from operations.options import Cloud, Output
from operations.progress import working
from operations.target import Target

if TYPE_CHECKING:
    from llmd_gke.settings import ModelSettings

KEY = "stopped"
UP_SECONDS = 2 * 60 * 60
PREVIEW_SECONDS = 15 * 60
LAST_LINES = 15
"""Lines of the log that a failure shows."""


@ending_in_order()
def switch(stack: str, model: str | None, cloud: Cloud | None, output: Output, *, stopped: bool, yes: bool) -> None:
    """Writes the switch of a model and runs ``up``; neither where both file and cloud have it already.

    The file is written at once or not at all. It is as before unless the update has begun; from then on it says what
    was asked for, also after Ctrl-C. Raises ``BadInput`` for an unknown model and for settings that would not be valid,
    ``NotUp`` for a stack that is not up, ``Refused`` without consent, ``Failed`` when the update fails.
    """
    verb = "stop" if stopped else "start"
    with working(f"reading stack {stack}", quiet_seconds=0):
        from operations.printing import show

        target = Target.choose(stack, cloud)
        one = _choose(target, model)
        name = f"Pulumi.{target.stack}.yaml"
        file = target.root / name
        before = file.read_bytes()
        after = _written(target, before.decode(), one.name, stopped=stopped).encode()
        state = "stopped" if stopped else "running"
        data: dict[str, object] = {"stack": stack, "model": one.name, "stopped": stopped, "file": name}
        # Also asked where the file differs: an update would create a stack that is not up, hosts included.
        is_so = _is_so(target, one.name, stopped=stopped)
        if is_so and after == before:
            show(output, {**data, "changed": False}, f"{one.name} is {state} already: nothing was changed.")
            return
    again = f"llmd-gke {verb} --model {one.name} --stack {stack}"
    replace(file, after)
    try:
        _consent(target, one.name, verb, yes=yes)
    except BaseException:
        replace(file, before)
        raise
    log = _update(target, verb, one.name, f"{name} says `{KEY}: {str(stopped).lower()}` for {one.name}", again)
    show(output, {**data, "changed": True, "log": str(log)}, "\n".join(_summary(target, one, stopped=stopped)))


def replace(file: Path, content: bytes) -> None:
    """Replaces the content of a file at once, with the rights that it has: nobody ever reads half of it."""
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as new:
        try:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
            Path(new.name).chmod(file.stat().st_mode & 0o777)
            Path(new.name).replace(file.resolve())
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise


def _choose(target: Target, name: str | None) -> ModelSettings:
    """The model of that name, or the only one. Raises ``BadInput``."""
    models = target.settings.models
    chosen = [model for model in models if name in (None, model.name)]
    if len(chosen) == 1:
        return chosen[0]
    names = ", ".join(model.name for model in models)
    problem = (
        f"Stack {target.stack} has {len(models)} models." if name is None else f"Stack {target.stack} has no {name}."
    )
    raise BadInput(f"{problem}\nAllowed for --model: {names}.\nFix: --model {models[0].name}")


def _written(target: Target, text: str, model: str, *, stopped: bool) -> str:
    """The stack file with the switch. Raises ``BadInput`` where the file would not be valid then."""
    from llmd_gke.settings.errors import SettingsError
    from llmd_gke.settings.load import load_stack
    from llmd_gke.settings.stack_edit import with_switch
    from llmd_gke.settings.stack_files import Unusable

    name = f"Pulumi.{target.stack}.yaml"
    try:
        changed = with_switch(text, model, KEY, on=stopped)
    except Unusable as unusable:
        raise BadInput(f"{name}: {unusable}\nFix: {unusable.finding.fix}") from None
    with tempfile.TemporaryDirectory(prefix="llmd-gke-") as folder:
        (Path(folder) / name).write_bytes(changed.encode())
        try:
            load_stack(Path(folder), target.stack)
        except SettingsError as error:
            raise BadInput(
                f"{error}\n\nThis would be the result of {KEY}: {str(stopped).lower()}; {name} is unchanged."
            ) from None
    return changed


def _is_so(target: Target, model: str, *, stopped: bool) -> bool:
    """Whether the last update succeeded and left the model so. Raises as :func:`operations.outputs.read` does."""
    from operations import outputs

    models = cast("dict[str, dict[str, object]]", outputs.read(target).values["models"])
    return model in models and bool(models[model].get(KEY)) is stopped and outputs.last_result(target) == "succeeded"


def _consent(target: Target, model: str, verb: str, *, yes: bool) -> None:
    """Shows what the update does and asks. Raises ``Refused`` without consent or without a terminal."""
    if target.cloud is not Cloud.GOOGLE or yes:
        return
    if not sys.stdin.isatty():
        raise Refused(
            f"There is no terminal to ask for confirmation.\nFix: llmd-gke {verb} --model {model} --stack "
            f"{target.stack} --yes"
        )
    from operations.live import engine

    command = engine.preview(target)
    log = _log(target, f"{verb}-preview")
    with working(" ".join(command), quiet_seconds=0) as work:
        status = engine.run(command, target, log, PREVIEW_SECONDS, work.say)
    print(log.read_text(encoding="utf-8"), file=sys.stderr)
    if status:
        raise Failed(f"The preview failed (status {status}), and the stack file is unchanged. Log: {log}")
    if not typer.confirm(
        f"{verb.capitalize()} {model} in project {target.settings.project} with this update?", err=True
    ):
        raise Refused("Nothing was changed, not even the stack file.")


def _update(target: Target, verb: str, model: str, says: str, again: str) -> Path:
    """Runs ``up`` and returns its log. Raises ``Failed``, and on Ctrl-C says first how to go on."""
    from operations.live import engine

    back = f"llmd-gke {'start' if verb == 'stop' else 'stop'} --model {model} --stack {target.stack}"
    log = _log(target, verb)
    command = engine.up(target)
    try:
        with working(" ".join(command), quiet_seconds=0) as work:
            status = engine.run(command, target, log, UP_SECONDS, work.say)
    except KeyboardInterrupt:
        print(
            f"\n{says}, and the update is not complete. Log: {log}\nFix: `{again}` completes it, `{back}` undoes it.",
            file=sys.stderr,
        )
        raise
    if status:
        last = "".join(f"\n  {line}" for line in log.read_text(encoding="utf-8").splitlines()[-LAST_LINES:])
        raise Failed(
            f"{says}, but the update failed (status {status}). Log: {log}{last}\nFix: correct what the log names, then "
            f"`{again}`; `{back}` undoes it"
        )
    return log


def _log(target: Target, what: str) -> Path:
    folder = target.root / "live"
    folder.mkdir(exist_ok=True)
    return folder / f"{what}-{target.stack}-{datetime.now(UTC):%Y%m%d-%H%M%S}.log"


def _summary(target: Target, model: ModelSettings, *, stopped: bool) -> list[str]:
    """What the operator should hear after the update."""
    if not stopped and model.scales_to_zero:
        return [
            f"{model.name} is no longer stopped. An update does not wait for servers of a model that may have none. "
            f"Watch them: llmd-gke status --stack {target.stack}"
        ]
    if not stopped:
        return [f"{model.name} serves. Check it: llmd-gke smoke --stack {target.stack}"]
    from operations.timeline.simulate import seconds_to_wake

    pool = target.settings.pool(model.pool)
    minutes = round(seconds_to_wake(model, target.settings) / 60)
    lines = [
        f"{model.name} is stopped: no pods, no routes.",
        f"Start it: llmd-gke start --model {model.name} --stack {target.stack}; the first token comes about "
        f"{minutes} min later (simulated, see docs/operations.md).",
    ]
    for index, one in enumerate(pool.node_pools):
        if one.min_nodes:
            entry = f"capacity[{index}] of " if pool.entries else ""
            lines.append(
                f"Pool {one.name} keeps its minNodes of {one.min_nodes}, which cost as before.\n"
                f"Fix: minNodes: 0 in {entry}pool {pool.name}"
            )
    return lines
