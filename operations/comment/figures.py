"""What a comment says about money and time besides the table: the budget's room, and the time to the first token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from llmd_gke.catalog.overhead import HOURS_PER_MONTH
from operations.comment.escape import code
from operations.cost.estimate import Amount, StackPrice, State
from operations.cost.tables import difference, hourly, monthly
from operations.timeline.simulate import clock

TITLES: Mapping[State, str] = {"running": "all replicas running", "full": "at most"}
SHORTEST_CHANGE_SECONDS = 5
"""Smaller changes of a simulated time are not shown."""


@dataclass(frozen=True)
class BudgetUse:
    """A budget, and what the stack costs at most with everything that the budget counts; USD per hour.

    ``most_usd_per_hour`` is ``None`` where a part has no public price.
    """

    limit_usd_per_hour: float
    most_usd_per_hour: float | None


@dataclass(frozen=True)
class Figures:
    """One side of a comparison. ``first_token``: seconds by model of a first update, simulated."""

    budget: BudgetUse | None = None
    first_token: Mapping[str, float] = field(default_factory=dict[str, float])


NO_FIGURES = Figures()
"""Of a side that does not exist, or cannot be read."""


def budget_use(price: StackPrice) -> BudgetUse | None:
    """The use of a stack's budget; ``None`` without one."""
    limit, chips = price.besides.limit_usd_per_hour, price.totals["full"].usd_per_hour
    if limit is None:
        return None
    return BudgetUse(limit, None if chips is None else chips + price.besides.most.usd_per_hour)


def lines(
    before: Mapping[State, Amount] | None, after: Mapping[State, Amount] | None, old: Figures, new: Figures
) -> Iterator[str]:
    """The lines below a stack's title, without those that say that nothing changed."""
    for state, title in TITLES.items():
        if before is None or after is None:
            continue
        first, second = before[state], after[state]
        if difference(first, second, 1) not in ("0", "-"):
            yield (
                f"Price, {title}: {hourly(first)} → {hourly(second)} USD an hour ({difference(first, second, 1)}), "
                f"{monthly(first)} → {monthly(second)} USD a month ({difference(first, second, HOURS_PER_MONTH)})."
            )
    yield from _budget(old.budget, new.budget)
    yield from _first_token(old.first_token, new.first_token)


def _budget(before: BudgetUse | None, after: BudgetUse | None) -> Iterator[str]:
    if after is None:
        if before is not None:
            yield f"Budget: {_usd(before.limit_usd_per_hour)} USD an hour → **none**."
        return
    limit = _usd(after.limit_usd_per_hour)
    if before is not None and before.limit_usd_per_hour != after.limit_usd_per_hour:
        limit = f"{_usd(before.limit_usd_per_hour)} → {limit}"
    start = f"Budget: {limit} USD an hour ({after.limit_usd_per_hour * HOURS_PER_MONTH:,.0f} a month)"
    remaining = _remaining(after)
    if remaining is None:
        yield f"{start}; not every pool has a public price, so what remains is not known."
        return
    earlier = None if before is None else _remaining(before)
    was = "" if earlier is None or _usd(earlier) == _usd(remaining) else f" (before: {_usd(earlier)})"
    rest = f"{_usd(remaining)} remain{was}" if remaining >= 0 else f"**exceeded by {_usd(-remaining)}**{was}"
    yield f"{start}; with every pool at its maximum and all that the budget counts, {rest}."


def _remaining(use: BudgetUse) -> float | None:
    return None if use.most_usd_per_hour is None else use.limit_usd_per_hour - use.most_usd_per_hour


def _usd(amount: float) -> str:
    return f"{amount:,.2f}"


def _first_token(before: Mapping[str, float], after: Mapping[str, float]) -> Iterator[str]:
    parts: list[str] = []
    for model, seconds in sorted(after.items()):
        earlier = before.get(model)
        if earlier is None:
            parts.append(f"{code(model)} {clock(seconds)}")
        elif abs(step := seconds - earlier) >= SHORTEST_CHANGE_SECONDS:
            sign = "+" if step > 0 else "-"
            parts.append(f"{code(model)} {clock(earlier)} → {clock(seconds)} ({sign}{clock(abs(step))})")
    if parts:
        yield f"First token after a first update, simulated, in minutes: {', '.join(parts)}."
