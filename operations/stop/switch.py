"""Stopping and starting one model: the switch in the stack file, and the update that follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from operations import models, outputs
from operations.ending_in_order import ending_in_order
from operations.options import Cloud, Output
from operations.printing import show
from operations.progress import working
from operations.stack_change import StackChange
from operations.target import Target

if TYPE_CHECKING:
    from llmd_gke.settings import ModelSettings

KEY = "stopped"


@ending_in_order()
def switch(stack: str, model: str | None, cloud: Cloud | None, output: Output, *, stopped: bool, yes: bool) -> None:
    """Writes the switch of a model and runs ``up``; neither where both file and cloud have it already.

    The file is written at once or not at all. It is as before unless the update has begun; from then on it says what
    was asked for, also after Ctrl-C. Raises ``BadInput`` for an unknown model and for settings that would not be valid,
    ``NotUp`` for a stack that is not up, ``Refused`` without consent, ``Failed`` when the update fails.
    """
    verb, opposite = ("stop", "start") if stopped else ("start", "stop")
    says = f"{KEY}: {str(stopped).lower()}"
    with working(f"reading stack {stack}", quiet_seconds=0):
        from llmd_gke.settings.stack_edit import with_switch

        target = Target.choose(stack, cloud)
        versions = models.versions(target, model)
        name = versions[0].model_name
        options = f"--model {name} --stack {target.stack}"
        change = StackChange(target, verb, f"llmd-gke {verb} {options}", name, f"llmd-gke {opposite} {options}")
        after = change.written(lambda text: with_switch(text, name, KEY, on=stopped), says)
        state = "stopped" if stopped else "running"
        data: dict[str, object] = {"stack": stack, "model": name, "stopped": stopped, "file": change.name}
        # Also asked where the file differs: an update would create a stack that is not up, hosts included.
        is_so = _is_so(target, versions, stopped=stopped)
        if is_so and after == change.file.read_bytes():
            show(output, {**data, "changed": False}, f"{name} is {state} already: nothing was changed.")
            return
    change.write(after, yes=yes)
    log = change.update(says)
    lines = [line for one in versions for line in _summary(target, one, stopped=stopped)]
    show(output, {**data, "changed": True, "log": str(log)}, "\n".join(dict.fromkeys(lines)))


def _is_so(target: Target, versions: list[ModelSettings], *, stopped: bool) -> bool:
    """Whether the last update succeeded and left the versions so. Raises as :func:`operations.outputs.read` does."""
    there = cast("dict[str, dict[str, object]]", outputs.read(target).values["models"])
    so = all(one.name in there and bool(there[one.name].get(KEY)) is stopped for one in versions)
    return so and outputs.last_result(target) == "succeeded"


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
        f"Start it: llmd-gke start --model {model.model_name} --stack {target.stack}; the first token comes about "
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
