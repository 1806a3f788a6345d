"""The steps of a rollout: the stack file first, then ``up``, then the checks, and the way back if one fails."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from time import sleep
from typing import NoReturn

from llmd_gke.settings.sections.versions import object_name
from operations.ending_in_order import ending_in_order
from operations.exits import BadInput, Busy, Failed, Unreachable
from operations.options import Cloud, Output
from operations.printing import show
from operations.progress import working
from operations.rollout import checks as asking
from operations.rollout.checks import Check
from operations.rollout.plan import Plan
from operations.stack_change import StackChange


@ending_in_order()
def rollout(
    change: StackChange, plan: Plan, *, every: float, checks: Sequence[Check], output: Output, yes: bool
) -> None:
    """Runs the steps. ``every``: seconds between two, at whose end the checks are made; those of the last one are made
    at once, unless alerts are among them.

    Raises ``NotUp`` for a version that is not up, ``Refused`` without consent, ``Busy`` when somebody has changed the
    file between two steps, ``Failed`` when an update fails, and when a check fails, after the way back.
    """
    target, name = change.target, change.model
    with working(f"looking at {plan.grows}"):
        asking.up(target, plan.grows)
        if checks and target.cloud is Cloud.REHEARSAL:
            raise BadInput("The rehearsal answers no requests and has no metrics.\nFix: leave out --check")
    content = b""
    for percent in plan.percents:
        content = _step(change, plan, percent, yes=yes, before=content)
        last = percent == plan.percents[-1]
        try:
            if not last or (percent and Check.ALERTS in checks):  # which see nothing at once
                doing = "checks" if last else "next step"
                with working(f"{plan.to} answers {percent} % of the requests of {name}, {doing} in {every:g} s"):
                    sleep(every)
            with working(f"checking {plan.grows}") as work:
                found = [*asking.problems(target, plan.grows, plan.other, checks, work.say)]
        except Unreachable as unreadable:
            found = [str(unreadable)]
        except KeyboardInterrupt:
            print(
                f"\n{plan.to} answers {percent} % of the requests of {name}, and the stack is as {change.name} says.\n"
                f"Fix: {change.ways}.",
                file=sys.stderr,
            )
            raise
        if found:
            _failed(change, plan, percent, found)
    end = plan.percents[-1]
    data: dict[str, object] = {"stack": target.stack, "model": name, **plan.written(end), "file": change.name}
    show(output, data, "\n".join(_summary(change, plan, end)))


def _step(change: StackChange, plan: Plan, percent: int, *, yes: bool, before: bytes = b"") -> bytes:
    """Returns the file that it writes. ``before``: that of the step before it, if any."""
    from llmd_gke.settings.stack_edit import with_rollout

    written = plan.written(percent)
    says = "rollout: {" + ", ".join(f"{key}: {value}" for key, value in written.items()) + "}"

    def edit(text: str) -> str:
        if before and text.encode() != before:  # nobody has agreed to what it says now
            raise Busy(f"{change.name} was changed since the last step: this is the end.\nFix: read it; {change.ways}")
        return with_rollout(text, change.model, written)

    content = change.written(edit, says)
    change.write(content, yes=yes or before != b"")
    change.update(says)
    return content


def _failed(change: StackChange, plan: Plan, percent: int, found: Sequence[str]) -> NoReturn:
    """Takes all requests back, unless it is the version that they would go to that has failed. Raises ``Failed``."""
    why = "".join(f"\n{one}" for one in found)
    if plan.grows != object_name(change.model, plan.to):
        raise Failed(
            f"{plan.stable} answers {100 - percent} % of the requests of {change.model} and failed its checks.{why}\n"
            f"Fix: correct version {plan.stable}, or move more requests to {plan.to}"
        )
    print(f"{plan.to} failed at {percent} %, all requests go back to {plan.stable}:{why}", file=sys.stderr)
    _step(replace(change, again=change.back), plan, 0, yes=True)
    raise Failed(
        f"{plan.to} failed its checks at {percent} % of the requests; {plan.stable} answers all of them again.{why}\n"
        f"Fix: correct version {plan.to} in {change.name}, deploy it, then {change.again}"
    )


def _summary(change: StackChange, plan: Plan, percent: int) -> list[str]:
    stack = change.target.stack
    lines = [f"{plan.to} answers {percent} % of the requests of {change.model}, {plan.stable} {100 - percent} %."]
    if percent == 100:
        lines.append(
            f"{plan.stable} keeps its servers for the way back: {change.back}\n"
            f"To release them, remove {plan.stable} from the versions in {change.name}, and rollout if {plan.to} is "
            "then the only one; deploy the stack."
        )
    elif percent:
        lines.append(f"Go on: llmd-gke rollout --model {change.model} --to {plan.to} --percent 100 --stack {stack}")
        lines.append(f"Take it back: {change.back}")
    return lines
