"""Everything a comment says about one stack, collected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from llmd_gke.graph.mermaid import Picture, whole
from llmd_gke.graph.parts import Parts
from llmd_gke.graph.resources import Graph
from operations.comment import base as base_
from operations.comment import changes
from operations.comment.changes import Change
from operations.comment.figures import NO_FIGURES, Figures, budget_use
from operations.comment.outages import outages, platform
from operations.comment.picture import difference
from operations.comment.policy_messages import PolicyMessage, run_policies
from operations.comment.releases import releases
from operations.cost import revisions
from operations.cost.estimate import Amount, StackPrice, State, estimate
from operations.exits import BadInput, Problem
from operations.options import Cloud
from operations.progress import working
from operations.target import Target
from operations.timeline.simulate import simulate

if TYPE_CHECKING:
    from llmd_gke.settings import StackSettings


Status = Literal["", "new", "removed"]


@dataclass(frozen=True)
class Price:
    """The price in a comment: nodes, chips and USD in each state."""

    totals: Mapping[State, Amount]


@dataclass(frozen=True)
class Report:
    """The report on one stack. ``problem``: why the head's program cannot be recorded; ``unknown``: why the base's
    cannot.
    """

    stack: str
    status: Status = ""
    changes: Sequence[Change] = ()
    planned: bool = False
    """Whether the engine planned the changes; otherwise they are the difference of two recordings."""
    outages: Sequence[str] = ()
    """What stops answering, and for how long; what replaces pods, and which version gets which requests."""
    policy_messages: Sequence[PolicyMessage] = ()
    before: Price | None = None
    after: Price | None = None
    figures_before: Figures = NO_FIGURES
    figures_after: Figures = NO_FIGURES
    picture: Picture | None = None
    problem: str = ""
    unknown: str = ""

    @property
    def quiet(self) -> bool:
        """Whether there is nothing to report beyond the row in the table."""
        mandatory = any(one.mandatory for one in self.policy_messages)
        return not (self.status or self.changes or mandatory or self.problem or self.unknown)

    @property
    def bad(self) -> bool:
        """Whether `pulumi up` would be rejected."""
        return bool(self.problem) or any(one.mandatory for one in self.policy_messages)


@dataclass
class Collector:
    """Creates the reports of stacks compared with a revision. ``previews``: files with the output of ``pulumi preview
    --json``.
    """

    root: Path
    revision: str
    cloud: Cloud | None
    previews: Mapping[str, Path] = field(default_factory=dict[str, Path])

    def stacks(self) -> list[str]:
        """Every stack that has a file now, or had one at the revision."""
        now = {path.name.split(".")[1] for path in self.root.glob("Pulumi.*.yaml") if path.name.count(".") == 2}
        return sorted(now | set(revisions.stacks_at(self.root, self.revision)))

    def reports(self, stacks: Sequence[str]) -> list[Report]:
        """The reports, in the order of ``stacks``. Raises ``BadInput`` for a stack that exists on neither side."""
        then = set(revisions.stacks_at(self.root, self.revision))
        unknown = [one for one in stacks if one not in then and not self._file(one).exists()]
        if unknown:
            raise BadInput(
                f"Stack {', '.join(unknown)} exists neither now nor at {self.revision}.\n"
                f"Fix: use one of {', '.join(self.stacks())}"
            )
        plans = {stack: changes.planned(file) for stack, file in self.previews.items()}
        with working(f"recording {len(stacks)} stack{'' if len(stacks) == 1 else 's'} at {self.revision}") as work:
            bases = base_.graphs_at(self.root, self.revision, [one for one in stacks if one in then])
            reports: list[Report] = []
            for stack in stacks:
                work.say(f"checking the policies of stack {stack}")
                reports.append(self._report(stack, bases.get(stack), plans.get(stack)))
        return reports

    def _file(self, stack: str) -> Path:
        return self.root / f"Pulumi.{stack}.yaml"

    def _report(self, stack: str, base: Graph | str | None, plan: list[Change] | None) -> Report:
        earlier, unknown = self._settings_before(stack)
        price = None if earlier is None else estimate(stack, earlier)
        before = price and Price(price.totals)
        if isinstance(base, str):
            base, unknown = None, base
        if not self._file(stack).exists():
            gone = changes.between(base, Graph()) if base else []
            return Report(stack, "removed", gone, before=before, unknown=unknown)
        status = "" if base is not None or unknown else "new"
        try:
            settings, now = self._now(stack)
        except Problem as problem:
            return Report(stack, status, before=before, problem=str(problem), unknown=unknown)
        after = estimate(stack, settings)
        compared = Parts(base) if base is not None else None
        difference_ = [] if unknown else changes.between(base or Graph(), now.graph)
        what = difference_ if plan is None else changes.with_steps(plan, difference_)
        figures = _figures(after, now.graph, settings)
        return Report(
            stack,
            status,
            changes=what,
            planned=plan is not None,
            outages=[*outages(what, settings, figures.first_token), *platform(what), *releases(earlier, settings)],
            policy_messages=run_policies(stack, now.graph),
            before=before,
            after=Price(after.totals),
            figures_before=_figures(price, base, earlier),
            figures_after=figures,
            picture=difference(compared, now) if compared else None if unknown else whole(now),
            unknown=unknown,
        )

    def _settings_before(self, stack: str) -> tuple[StackSettings | None, str]:
        try:
            return revisions.settings_at(self.root, self.revision, stack), ""
        except BadInput:
            return None, "the base's settings are not valid for the current code"

    def _now(self, stack: str) -> tuple[StackSettings, Parts]:
        from operations.record_graph import record

        target = Target.choose(stack, self.cloud, self.root)
        target.check_secrets()
        return target.settings, record(target)


def _figures(price: StackPrice | None, graph: Graph | None, settings: StackSettings | None) -> Figures:
    budget = None if price is None else budget_use(price)
    return (
        Figures(budget) if graph is None or settings is None else Figures(budget, simulate(graph, settings).first_token)
    )
