"""The steps of an upgrade: each an ``up`` of one component, and the checks after it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from rich.table import Table

from llmd_gke.graph.resources import Graph
from operations import outputs
from operations.ending_in_order import ending_in_order
from operations.exits import Failed, NotUp, Problem, Refused, Unreachable
from operations.options import Cloud, Output
from operations.printing import as_data, show
from operations.progress import working
from operations.record_graph import record
from operations.rollout import checks as asking
from operations.stack_change import Update
from operations.target import Target
from operations.upgrade.plan import Step, steps
from operations.upgrade.plan import target as target_of


class Upgrade:
    """The upgrade of a stack to the versions that the program of this release registers.

    Raises ``BadInput`` for settings that cannot be used, and as :func:`operations.outputs.resources` does.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._name = f"llmd-gke upgrade --stack {target.stack} --apply"
        if not outputs.resources(target):
            raise NotUp(f"Stack {target.stack} on {target.cloud} has no resources.\nFix: {target.up}")
        self._wanted: Graph = record(target).graph
        self.steps = self._steps()

    def _steps(self) -> list[Step]:
        return steps(outputs.resources(self._target), self._wanted, self._target.root, _live(self._target))

    def show(self, output: Output) -> None:
        """Prints the steps. Raises ``Failed`` if one is refused."""
        stack = self._target.stack
        data = {"stack": stack, "steps": [_data(one) for one in self.steps]}
        if not self.steps:
            show(output, data, self._nothing)
            return
        table = Table(title=f"Stack {stack}: from what it runs to this release", title_justify="left")
        for title in ("", "component", "from", "to", "restarts", "CRDs", "min"):
            table.add_column(title, overflow="fold")
        for number, one in enumerate(self.steps, 1):
            part = one.component
            table.add_row(str(number), part.title, one.before, one.after, part.restarts, part.crds, f"{part.minutes}")
        by_hand = [f"CRDs of {one.component.title}: {one.crd_step}" for one in self.steps if one.crd_step]
        found = [f"{one.severity}: {one.problem}\n  Fix: {one.fix}" for step in self.steps for one in step.findings]
        show(output, data, table, *by_hand, *_walks(self.steps), *found, f"Carry it out: {self._apply()}")
        self._refuse()

    @property
    def _nothing(self) -> str:
        return f"Stack {self._target.stack} runs the versions of this release: nothing to upgrade."

    def _apply(self) -> str:
        """The command, with what the operator has to confirm."""
        return " ".join([self._name, *(f"--crds {one.component.key}" for one in self.steps if one.crd_step)])

    def _refuse(self) -> None:
        if problems := [one for step in self.steps for one in step.findings if one.severity == "error"]:
            fixes = "; ".join(one.fix for one in problems)
            raise Failed(f"Refused: {'; '.join(one.problem for one in problems)}\nFix: {fixes}")

    @ending_in_order()
    def apply(self, output: Output, crds: Collection[str], *, yes: bool) -> None:
        """Carries the steps out.

        Raises ``Failed`` for what is refused and where a step or its checks fail, ``Refused`` without consent and for
        CRDs that nobody has applied, ``Unreachable`` without a chart; only a step changes anything.
        """
        self._refuse()
        target, planned, again = self._target, self.steps, self._apply()
        if not planned and outputs.last_result(target) == "succeeded":
            show(output, {"stack": target.stack, "upgraded": []}, self._nothing)
            return
        if missing := [one for one in planned if one.crd_step and one.component.key not in crds]:
            by_hand = "; ".join(one.crd_step for one in missing)
            raise Refused(f"Helm never upgrades the CRDs of {_titles(missing)}.\nFix: {by_hand}, then {again}")
        if target.cloud is Cloud.GOOGLE:
            _charts(target)
        update = Update(target, "upgrade", again)
        update.consent(f"Upgrade {_titles(planned)}", "no component was upgraded", yes=yes)
        for number, step in enumerate(planned):
            stands = f"{self._done(planned[:number])}{step.line} is under way"
            targets = [target_of(urn) for urn in step.urns] if len(planned) > 1 else []
            update.run(stands, f"`{again}` goes on there", targets)
            self._check(step, self._done(planned[:number]), again)
            print(f"{step.line}: upgraded.", file=sys.stderr)
        if len(planned) != 1:  # what else the release changes
            update.run(f"{_titles(planned) or 'No component'} upgraded", f"`{again}` goes on there")
        data = {"stack": target.stack, "upgraded": [_data(one) for one in planned]}
        show(output, data, f"Stack {target.stack} runs the versions of this release: {_titles(planned)} upgraded.")

    def _check(self, step: Step, done: str, again: str) -> None:
        with working(f"checking {step.component.title}"):
            problems: list[str] = []
            if step.component.key in {one.component.key for one in self._steps()}:
                problems.append(f"the state still has {step.before}")
            if self._target.cloud is not Cloud.REHEARSAL:
                problems += asking.smoke(self._target)
        if problems:
            said = "\n".join(problems)
            raise Failed(
                f"{done}The checks after {step.line} failed: {said}\nFix: correct this, then `{again}` goes on"
            )

    @staticmethod
    def _done(planned: list[Step]) -> str:
        return f"{_titles(planned)} upgraded; " if planned else ""


def _titles(planned: list[Step]) -> str:
    return ", ".join(one.component.title for one in planned)


def _walks(steps: Sequence[Step]) -> Iterator[str]:
    yield from (f"Walked: {one.component.title} {one.walk.line}" for one in steps if one.walk is not None)
    if others := [one.line for one in steps if one.walk is None]:
        yield f"Not walked: {', '.join(others)}"


def _data(step: Step) -> dict[str, object]:
    part = step.component
    return {
        "component": part.key,
        "from": step.before,
        "to": step.after,
        "restarts": part.restarts,
        "crds": part.crds,
        "crdStep": step.crd_step,
        "minutes": part.minutes,
        "walk": None if step.walk is None else as_data(step.walk),
        "findings": [as_data(one) for one in step.findings],
    }


def _live(target: Target) -> Mapping[str, str]:
    """Versions by a component's title, as a cluster of Google says; empty where it does not answer."""
    if target.cloud is not Cloud.GOOGLE:
        return {}
    from llmd_common.kubernetes.fields import text
    from llmd_gke.rules.versions import version_of
    from operations.ask.kubectl import by_kubeconfig
    from operations.doctor.platform import Live, controllers

    with suppress(Problem), by_kubeconfig(outputs.kubeconfig(target)) as kubectl:
        live = Live(kubectl.options)
        nodes = [text(one, "status", "nodeInfo", "kubeletVersion") for one in live.of("Node")]
        found = {part.title: one.version for part, one in controllers(live).items()}
        return {**found, "GKE": max(nodes, key=lambda one: version_of(one) or (), default="")}
    return {}


def _charts(target: Target) -> None:
    """Raises ``Unreachable`` where a registry does not have a chart, before anything is changed."""
    from operations.doctor.context import Context
    from operations.doctor.downloads import charts
    from operations.doctor.result import CheckStatus

    with working("asking the registries for the charts"):
        for one in charts(Context(target.stack, target.settings)):
            if one.status is CheckStatus.FAILED:
                raise Unreachable(f"Nothing was upgraded: charts {one.message}\nFix: {one.fix}")
