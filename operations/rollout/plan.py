"""Which steps lead from what a stack file says about a model's versions to what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llmd_gke.settings import ModelSettings
from llmd_gke.settings.sections.versions import object_name, shares
from operations.exits import BadInput


@dataclass(frozen=True)
class Plan:
    """The steps of a rollout to the version ``to``, as percent of the requests; ``stable`` has the rest. ``grows``: the
    version, by the name of its objects, whose part grows; ``other``: the one whose part shrinks.
    """

    to: str
    stable: str
    percents: tuple[int, ...]
    grows: str
    other: str

    def written(self, percent: int) -> dict[str, str | int]:
        """What a step writes below ``rollout``."""
        return {"to": self.to, "percent": percent, "stable": self.stable}


def forward(model: ModelSettings, to: str, percent: int, step: int | None) -> Plan:
    """The steps to ``percent``, ``step`` percent each (default: at once). ``model``: any version of it.

    A rollout that is at 0 or 100 percent has ended: another one begins where requests go now. Raises ``BadInput`` for a
    version that there is not, or that answers every request already, and while another rollout is under way.
    """
    versions = _versions(model)
    if to not in versions:
        raise BadInput(
            f"Model {model.model_name} has no version {to}.\nAllowed for --to: {', '.join(versions)}.\n"
            f"Fix: --to {versions[-1]}, or add it to versions in the stack file and deploy it first"
        )
    stable, now = _now(model)
    rollout = model.rollout
    if rollout is not None and 0 < now < 100 and to != rollout.to:
        raise BadInput(
            f"Model {model.model_name} is in a rollout already: {rollout.to} answers {now} % of the requests.\n"
            f"Fix: finish it (--to {rollout.to} --percent 100) or take it back (--back) first"
        )
    if rollout is not None and to != rollout.to:
        stable, now = (rollout.to if now == 100 else stable), 0
    if to == stable:
        fix = next((f"--to {one}" for one in versions if one != to), "add another one to versions")
        raise BadInput(f"{to} answers all requests of {model.model_name} that no rollout moves.\nFix: {fix}")
    stops = range(now + step, percent, step) if step else ()
    versions_of = [object_name(model.model_name, one) for one in (to, stable)]
    grows, other = versions_of if percent >= now else versions_of[::-1]
    return Plan(to, stable, (*stops, percent), grows, other)


def back(model: ModelSettings) -> Plan:
    """The one step that takes all requests back from the newer version. Raises ``BadInput`` without a rollout."""
    _versions(model)
    stable, _ = _now(model)
    if model.rollout is None:
        raise BadInput(f"Model {model.model_name} has no rollout.\nFix: --to VERSION --percent N begins one")
    grows, other = (object_name(model.model_name, one) for one in (stable, model.rollout.to))
    return Plan(model.rollout.to, stable, (0,), grows, other)


def _versions(model: ModelSettings) -> Sequence[str]:
    if not model.versions:
        raise BadInput(
            f"Model {model.model_name} has no versions.\nFix: list them in the stack file (docs/models.md), the first "
            "one as {name: v1}"
        )
    return [one.name for one in model.versions]


def _now(model: ModelSettings) -> tuple[str, int]:
    """The stable version, and the percent of the other one."""
    names = {one.name: object_name(model.model_name, one.name) for one in model.versions}
    stable, _ = shares(names, model.rollout)
    version = next(name for name, made in names.items() if made == stable)
    return version, 0 if model.rollout is None else model.rollout.percent
