"""The text of the comment, never longer than GitHub allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llmd_gke.catalog.zones import PRICES_AS_OF
from llmd_gke.wording import counted
from operations.comment.changes import OPS, Change
from operations.comment.escape import block, code, prose
from operations.comment.figures import lines
from operations.comment.policy_messages import PolicyMessage
from operations.comment.report import Price, Report
from operations.cost.estimate import Amount, State
from operations.cost.tables import difference, hourly

MARKER = "<!-- llmd-gke: what this pull request changes -->"
"""First line of the comment, by which the next run finds and replaces it."""

LIMIT = 65_000
"""Maximum characters of the comment. GitHub rejects more than 65,536."""

OF_A_FORK = (
    "> [!WARNING]\n> The code of a fork reported everything below. It may be deliberately wrong: read the "
    "change itself, and do not approve it because of this comment."
)
"""Warning above the table. The base's code renders the text, but from data that the fork's code wrote."""

SIGNS = {"create": "new", "update": "changed", "replace": "**replaced**", "delete": "**removed**"}


@dataclass(frozen=True)
class MarkdownLimits:
    """Limits on the text about a stack: rows of changes, details per row, policy messages, and whether it has a
    picture.
    """

    rows: int
    details: int
    messages: int
    drawn: bool


TOO_LONG = "The details do not fit into a comment; `llmd-gke comment --output json` shows them."

LIMITS = (
    MarkdownLimits(200, 8, 50, True),
    MarkdownLimits(60, 4, 20, True),
    MarkdownLimits(30, 2, 10, False),
    MarkdownLimits(8, 0, 5, False),
    MarkdownLimits(0, 0, 3, False),
)


def comment(reports: Sequence[Report], base: str, head: str, *, fork: bool = False) -> str:
    """The comment about all stacks; what does not fit is omitted and counted.

    ``fork``: the code of a fork produced the reports, which the comment mentions.
    """
    head_ = list(_head(reports, base, head, fork))
    for limits in LIMITS:
        text = "\n\n".join([*head_, *(part for one in reports for part in _stack(one, limits))]) + "\n"
        if len(text) <= LIMIT:
            return text
    text = "\n\n".join([*head_, TOO_LONG]) + "\n"
    return text if len(text) <= LIMIT else f"{text[: LIMIT - 200].rsplit(chr(10), 1)[0]}\n\n{TOO_LONG}\n"


def _head(reports: Sequence[Report], base: str, head: str, fork: bool) -> Iterator[str]:
    yield f"{MARKER}\n### {_headline(reports)}"
    if fork:
        yield OF_A_FORK
    yield "\n".join(
        [
            "| Stack | Resources | Policies | Chips | USD an hour, all replicas running | at most |",
            "|---|---|---|---|---|---|",
            *(_row(report) for report in reports),
        ]
    )
    yield (
        f"<sub>{prose(base)} → {prose(head)}. Made by `llmd-gke comment`. List prices of {PRICES_AS_OF} with GKE's "
        "fee, without system nodes, disks and traffic; *at most*: every pool at `maxNodes`.</sub>"
    )


def _headline(reports: Sequence[Report]) -> str:
    bad = [report.stack for report in reports if report.bad]
    if bad:
        return f"`pulumi up` would reject {_stacks(bad)}"
    changed = [report.stack for report in reports if not report.quiet]
    return f"Changes {_stacks(changed)}" if changed else "No stack changes"


def _stacks(names: Sequence[str]) -> str:
    shown = ", ".join(code(name) for name in names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"{'stack' if len(names) == 1 else 'stacks'} {shown}{more}"


def _row(report: Report) -> str:
    cells = [
        code(report.stack) + (f" ({report.status})" if report.status else ""),
        _counts(report),
        _policies(report),
        _chips(report.before, report.after, report),
        _price(report, "running"),
        _price(report, "full"),
    ]
    return f"| {' | '.join(cells)} |"


def _counts(report: Report) -> str:
    if report.problem:
        return "not known"
    if report.unknown and not report.planned:
        return "base unknown"
    parts = [f"{sum(one.op == op for one in report.changes)} {SIGNS[op].strip('*')}" for op in reversed(OPS)]
    return ", ".join(part for part in parts if not part.startswith("0 ")) or "no change"


def _policies(report: Report) -> str:
    if report.status == "removed":
        return ""
    if report.problem:
        return "**settings refused**"
    mandatory = sum(one.mandatory for one in report.policy_messages)
    advisory = len(report.policy_messages) - mandatory
    summary = f"**{mandatory} violated**" if mandatory else "all hold"
    return f"{summary}, {counted(advisory, 'hint')}" if advisory else summary


def _amount(price: Price | None, state: State) -> Amount | None:
    return None if price is None else price.totals[state]


def _chips(before: Price | None, after: Price | None, report: Report) -> str:
    first, second = _amount(before, "running"), _amount(after, "running")
    return _step(report, None if first is None else str(first.chips), None if second is None else str(second.chips))


def _price(report: Report, state: State) -> str:
    first, second = _amount(report.before, state), _amount(report.after, state)
    text = _step(report, _hourly(first), _hourly(second))
    change = difference(first, second, 1)
    comparable = first is not None and second is not None and change not in ("0", "-")
    return f"{text} ({change})" if comparable else text


def _hourly(amount: Amount | None) -> str | None:
    return None if amount is None else prose(hourly(amount))


def _step(report: Report, before: str | None, after: str | None) -> str:
    """``4 → 8``; one value if nothing changes or one side does not exist."""
    if after is None and report.status == "removed":
        return f"{before or '?'} → none"
    if before is None and report.status == "new":
        return after or "?"
    return (after or "?") if before == after else f"{before or '?'} → {after or '?'}"


def _stack(report: Report, limits: MarkdownLimits) -> Iterator[str]:
    if report.quiet:
        return
    yield f"#### {code(report.stack)}{f' ({report.status})' if report.status else ''}"
    if report.status == "removed":
        destroy = code(f"pulumi destroy --stack {report.stack}")
        yield f"Removing the file does not destroy the stack: run {destroy} before you remove it."
    if report.problem:
        yield "Its settings or its program are not valid:\n\n" + block(report.problem[:4000])
    if report.unknown:
        yield f"The base cannot be compared: {prose(report.unknown[:500])}."
    if report.outages:
        yield "\n".join(f"- **{prose(one)}**" for one in report.outages[: max(limits.messages, 1)])
    before, after = (None if price is None else price.totals for price in (report.before, report.after))
    if figures := list(lines(before, after, report.figures_before, report.figures_after)):
        yield "\n".join(f"- {line}" for line in figures)
    violated = [one for one in report.policy_messages if one.mandatory]
    if violated:
        yield "\n".join(["**Policy violations**\n", *_messages(violated, limits.messages)])
    if report.changes:
        origin = "as planned by the engine" if report.planned else "from a comparison of the recorded graphs"
        yield _folded(f"{_counts(report)}, {origin}", _table(report.changes, limits))
    if report.picture and limits.drawn:
        what = "The graph" if report.status else "Differences in the graph"
        yield _folded(what, f"```mermaid\n{report.picture.text()}\n```\n\n{_legend(report)}")
    hints = [one for one in report.policy_messages if not one.mandatory]
    if hints:
        messages = "\n".join(_messages(hints, limits.messages))
        yield _folded(f"{counted(len(hints), 'hint')} of the policies", messages)


def _legend(report: Report) -> str:
    if report.status:
        return "Thick: the critical chain."
    return "Green: new. Dashed red: removed. Brown: changed inside. Thick arrows: new edges; dotted: removed edges."


def _table(changes: Sequence[Change], limits: MarkdownLimits) -> str:
    shown = changes[: limits.rows]
    rows = [f"| {SIGNS[one.op]} | {code(one.name)} | {code(_kind(one))} | {_details(one, limits)} |" for one in shown]
    left = len(changes) - len(shown)
    table = ["| | Resource | Kind | What |", "|---|---|---|---|", *rows] if rows else []
    return "\n".join([*table, *([f"\n{left} more are not shown."] if left else [])])


def _details(change: Change, limits: MarkdownLimits) -> str:
    shown = [code(path) + (f" {code(step)}" if step else "") for path, step in change.details[: limits.details]]
    left = len(change.details) - len(shown)
    return "<br>".join([*shown, f"{left} more"] if left and change.details else shown)


def _kind(change: Change) -> str:
    return change.type.rsplit(":", 1)[-1]


def _messages(policy_messages: Sequence[PolicyMessage], most: int) -> list[str]:
    shown = [
        f"- {code(one.policy)}{f' on {code(one.resource)}' if one.resource else ''}: {prose(_one_line(one.message))}"
        for one in policy_messages[:most]
    ]
    left = len(policy_messages) - len(shown)
    return [*shown, f"- {left} more"] if left else shown


def _one_line(message: str) -> str:
    return ": ".join(line.strip() for line in message[:1000].splitlines() if line.strip())


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"
