"""The text of the comment: its parts, its limit, and that nothing in it is read as more than text."""

from __future__ import annotations

import re

import pytest

from llmd_gke.graph.mermaid import Box, Picture
from llmd_gke.settings import parse
from llmd_gke.settings.errors import SettingsError
from operations.comment import escape, figures
from operations.comment.changes import Change
from operations.comment.figures import BudgetUse, Figures
from operations.comment.markdown import LIMIT, MARKER, TOO_LONG, comment
from operations.comment.policy_messages import PolicyMessage
from operations.comment.report import Price, Report
from operations.cost.estimate import estimate

CONFIG = {
    "gcp:project": "my-project",
    "llmd-gke:cluster": {"name": "llmd-one", "zone": "us-east5-b"},
    "llmd-gke:models": [{"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "pool"}],
}
POOL = {"name": "pool", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4}
SMALL = Price(estimate("one", parse({**CONFIG, "llmd-gke:pools": [POOL]}, "one").settings).totals)
LARGE = Price(estimate("one", parse({**CONFIG, "llmd-gke:pools": [{**POOL, "maxNodes": 6}]}, "one").settings).totals)
OPEN = Price(
    estimate("one", parse({**CONFIG, "llmd-gke:pools": [{**POOL, "capacity": "spot"}]}, "one").settings).totals
)
MANDATORY = PolicyMessage(
    "gateway-class", True, "edge-gateway", "Title\nGateway edge: class `x` is | not <allowed>. Fix: y."
)
HINT = PolicyMessage("image-tag", False, "", "@someone should see https://example.com")
CHANGES = (
    Change("replace", "pool-nodes", "gcp:container/nodePool:NodePool", (("nodeConfig.machineType", "replaces"),)),
    Change("delete", "old", "kubernetes:core/v1:Namespace"),
    Change("create", "new`|", "kubernetes:core/v1:Namespace"),
    Change("update", "route", "kubernetes:x/v1:HTTPRoute", (("spec.a", "1 → 2"), ("spec.b", ""))),
)


LINES = """\
### `pulumi up` would reject stacks `bad`, `broken`
| `bad` | 1 changed, 1 new, 1 removed, 1 replaced | **1 violated**, 1 hint | 4 | 10.90 | 43.30 → 64.90 (+21.60) |
| `broken` | not known | **settings refused** | 4 → ? | 10.90 → ? | 43.30 → ? |
| `gone` (removed) | 1 removed |  | 4 → none | 10.90 → none | 43.30 → none |
| `lost` | base unknown | all hold | ? → 4 | ? → 10.90 | ? → 43.30 |
| `new` (new) | 1 new | all hold | 4 | 10.90 | 43.30 |
| `open` | 1 changed | all hold | 4 | 10.90 → 4.96 (-5.94) | 43.30 → 19.54 (-23.76) |
- **Node pool pool is replaced: &lt;qwen&gt; stops answering.**
- `gateway-class` on `edge-gateway`: Title: Gateway edge: class `x` is \\| not &lt;allowed&gt;. Fix: y.
| **replaced** | `pool-nodes` | `NodePool` | `nodeConfig.machineType` `replaces` |
- `image-tag`: @\u200bsomeone should see https:\u200b//example.com
Removing the file does not destroy the stack: run `pulumi destroy --stack gone` before you remove it.
The base cannot be compared: RunError: the base &lt;failed&gt;.
- Price, all replicas running: 10.90 → 4.96 USD an hour (-5.94), 7,957 → 3,621 USD a month (-4,336).
with every pool at its maximum and all that the budget counts, **exceeded by 1.25** (before: 9.50).
in minutes: `new` 15:00, `qwen` 32:57 → 25:00 (-7:57), `slow` 20:00 → 21:05 (+1:05).
""".splitlines()
"""Parts of a comment on every kind of stack; the rest of it is in docs/figures.md, which is kept current."""


def test_every_kind_of_stack_says_what_changes_and_what_stops_it() -> None:
    reports = [
        Report(
            "bad",
            changes=CHANGES,
            planned=True,
            outages=["Node pool pool is replaced: <qwen> stops answering."],
            policy_messages=[MANDATORY, HINT],
            before=SMALL,
            after=LARGE,
        ),
        Report("broken", before=SMALL, problem="Pulumi.broken.yaml has 1 problem:\n\n  ```key```"),
        Report("gone", "removed", changes=CHANGES[1:2], before=SMALL),
        Report("lost", after=SMALL, unknown="RunError: the base <failed>"),
        Report("new", "new", changes=CHANGES[2:3], after=SMALL, picture=Picture((Box("a", "Kind"),), frozenset())),
        Report(
            "open",
            before=SMALL,
            after=OPEN,
            changes=CHANGES[3:],
            picture=Picture((Box("b", "Kind", "2 Thing"),), frozenset()),
        ),
        Report(
            "bounded",
            before=SMALL,
            after=LARGE,
            changes=CHANGES[3:],
            figures_before=Figures(BudgetUse(60, 50.5), {"qwen": 1977, "slow": 1200, "as-before": 600}),
            figures_after=Figures(BudgetUse(60, 61.25), {"qwen": 1500, "slow": 1265, "as-before": 602, "new": 900}),
        ),
        Report("quiet", policy_messages=[HINT], before=SMALL, after=SMALL),
    ]
    shown = comment(reports, "0123456", "89abcde")
    assert [line for line in LINES if line not in shown] == []


SOME, MORE, OPEN_USE = BudgetUse(60, 50), BudgetUse(80, 50), BudgetUse(60, None)


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        (None, None, None),
        (SOME, MORE, "Budget: 60.00 → 80.00 .* 30.00 remain .before: 10.00.."),
        (SOME, None, "Budget: 60.00 USD an hour → .*none.*"),
        (SOME, OPEN_USE, ".* not every pool has a public price, so what remains is not known."),
    ],
)
def test_the_budget_line_says_what_remains(before: BudgetUse | None, after: BudgetUse | None, line: str | None) -> None:
    shown = list(figures.lines(None, None, Figures(before), Figures(after)))
    assert len(shown) == (line is not None)
    assert line is None or re.fullmatch(line, shown[0])


def test_the_room_of_a_budget_counts_what_the_settings_rule_counts() -> None:
    config = {**CONFIG, "llmd-gke:pools": [POOL]}
    price = estimate("one", parse({**config, "llmd-gke:budget": {"usdPerHour": 60}}, "one").settings)
    use = figures.budget_use(price)
    assert use is not None
    assert use.most_usd_per_hour is not None
    assert figures.budget_use(estimate("one", parse(config, "one").settings)) is None
    just, less = use.most_usd_per_hour + 0.01, use.most_usd_per_hour - 0.01
    assert parse({**config, "llmd-gke:budget": {"usdPerHour": just}}, "one")
    with pytest.raises(SettingsError, match="more than the budget"):
        parse({**config, "llmd-gke:budget": {"usdPerHour": less}}, "one")


def test_nothing_to_say_is_said_in_a_line_and_a_table() -> None:
    text = comment([Report("one", before=SMALL, after=SMALL)], "main", "this")
    assert text.startswith(f"{MARKER}\n### No stack changes\n")
    assert "<details>" not in text


def huge(stack: str, count: int) -> Report:
    details = tuple((f"spec.path.number{index}", "something → something else") for index in range(20))
    many = [Change("update", f"resource-{index}", "gcp:test:Thing", details) for index in range(count)]
    policy_messages = [
        PolicyMessage(f"rule-{index}", True, f"resource-{index}", "long " * 300) for index in range(count)
    ]
    drawn = Picture(tuple(Box(f"box-{index}", "Kind") for index in range(count)), frozenset())
    return Report(stack, changes=many, policy_messages=policy_messages, before=SMALL, after=LARGE, picture=drawn)


@pytest.mark.parametrize(("stacks", "count"), [(1, 40), (1, 1000), (100, 3)])
def test_a_comment_is_never_longer_than_github_takes_and_stays_whole(stacks: int, count: int) -> None:
    text = comment([huge(f"stack-{index}", count) for index in range(stacks)], "main", "this")
    assert len(text) <= LIMIT < 65_536
    assert text.startswith(MARKER)
    assert "`pulumi up` would reject" in text
    assert text.count("<details>") == text.count("</details>")
    assert text.count("```") % 2 == 0
    assert count <= 40 or "more are not shown" in text or TOO_LONG in text


def test_code_inside_a_message_stays_code_and_cannot_break_out() -> None:
    assert escape.prose("class `a|b` is *new*") == "class `a\\|b` is \\*new\\*"
    assert escape.prose("an open ` stays plain <b>") == "an open \\` stays plain &lt;b&gt;"
