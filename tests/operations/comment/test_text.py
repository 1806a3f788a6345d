"""The text of the comment: its parts, its limit, and that nothing in it is read as more than text."""

from __future__ import annotations

import re

import pytest

from llmd_gke.graph.mermaid import Box, Picture
from llmd_gke.settings import parse
from operations.comment import escape
from operations.comment.changes import Change
from operations.comment.markdown import LIMIT, MARKER, TOO_LONG, comment
from operations.comment.policy_messages import PolicyMessage
from operations.comment.report import Report
from operations.cost.estimate import estimate
from tests.operations.support import same_as_golden

CONFIG = {
    "gcp:project": "my-project",
    "llmd-gke:cluster": {"name": "llmd-one", "zone": "us-east5-b"},
    "llmd-gke:models": [{"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "pool"}],
}
POOL = {"name": "pool", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4}
SMALL = estimate("one", parse({**CONFIG, "llmd-gke:tpuPools": [POOL]}, "one").settings)
LARGE = estimate("one", parse({**CONFIG, "llmd-gke:tpuPools": [{**POOL, "maxNodes": 6}]}, "one").settings)
OPEN = estimate("one", parse({**CONFIG, "llmd-gke:tpuPools": [{**POOL, "capacity": "spot"}]}, "one").settings)
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


def test_every_kind_of_stack_reads_as_committed() -> None:
    reports = [
        Report("bad", changes=CHANGES, planned=True, policy_messages=[MANDATORY, HINT], before=SMALL, after=LARGE),
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
        Report("quiet", policy_messages=[HINT], before=SMALL, after=SMALL),
    ]
    same_as_golden("comment.md", comment(reports, "0123456", "89abcde"))


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


@pytest.mark.parametrize(("stacks", "count"), [(1, 40), (1, 5000), (4, 400), (40, 300), (900, 3)])
def test_a_comment_is_never_longer_than_github_takes_and_stays_whole(stacks: int, count: int) -> None:
    text = comment([huge(f"stack-{index}", count) for index in range(stacks)], "main", "this")
    assert len(text) <= LIMIT < 65_536
    assert text.startswith(MARKER)
    assert "`pulumi up` would reject" in text
    assert text.count("<details>") == text.count("</details>")
    assert text.count("```") % 2 == 0
    assert count <= 40 or "more are not shown" in text or TOO_LONG in text


@pytest.mark.parametrize(
    "text",
    [
        "@everyone",
        "[click](https://evil.example)",
        "<img src=x>",
        "<!-- hidden",
        "a | b",
        "`",
        "```",
        "# title",
        "~~x~~",
    ],
)
def test_foreign_text_is_neither_markup_nor_mention_nor_link(text: str) -> None:
    assert re.fullmatch(r"`[^`]*`", escape.code(text))
    assert "|" not in escape.code(text).replace("\\|", "")
    plain = escape.prose(text)
    assert not re.search(r"(?<!\\)[\[\]|#~`<>]|@\w|https://", plain), plain
    assert escape.block(f"x\n{text}").splitlines()[0].count("`") > max(2, text.count("`"))


def test_code_inside_a_message_stays_code_and_cannot_break_out() -> None:
    assert escape.prose("class `a|b` is *new*") == "class `a\\|b` is \\*new\\*"
    assert escape.prose("an open ` stays plain <b>") == "an open \\` stays plain &lt;b&gt;"
