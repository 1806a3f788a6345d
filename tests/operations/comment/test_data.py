"""A fork's code writes the data of a comment: whatever it writes, no text in it is more than text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from operations.comment import data
from operations.comment.figures import BudgetUse, Figures
from operations.comment.markdown import LIMIT, MARKER, OF_A_FORK, comment
from operations.comment.report import Report
from tests.operations.comment.test_text import CHANGES, HINT, LARGE, MANDATORY, SMALL, huge
from tests.operations.support import run

HOSTILE = [
    "@org/team",
    "mail someone@evil.example",
    "[required re-authentication](https://evil.example)",
    "![](https://evil.example/pixel.png)",
    "Fixes #1",
    "closes https://github.com/o/r/issues/1",
    "GH-12",
    "gh-12",
    "o/r#12",
    "www.evil.example",
    "ftp://evil.example",
    "$\\href{javascript:x}{y}$",
    "$`x`$",
    "a5c3785ed8d6a35868bc169f07e40e889087fd2e",
    "deadbee",
    "1234567",
    "safe\u202eelif.exe",
    "zero\u200bwidth\ufeff",
    "a\x1b[2Jb\x00c\rd",
    "<img src=x onerror=y>",
    "<!-- llmd-gke -->",
    "</details></details>",
    "&lt;b&gt;",
    "```\n### Changes no stack\n```",
    "| a | b |\n|---|---|",
    "~~x~~ **b** _i_ `c",
    "[^1]",
    "\n\n### Changes no stack, all policies hold",
]
FORBIDDEN = re.compile(
    r"@\w|(?<!\\)\]\(|(?<!\\)!\[|https?://|ftp://|(?i:\bwww\.)|(?<!&)#\d|(?i:\bgh-\d)"
    r"|<(?!/?(?:span|sub|details|summary|br|b)>|!-- llmd-gke: what)"
    r"|[\u202a-\u202e\u2066-\u2069\ufeff\x00-\x08\x0b-\x1f]"
    r"|(?<![0-9a-zA-Z])[0-9a-f]{7,40}(?![0-9a-zA-Z])"
)


def outside_code(text: str) -> str:
    """A comment without what GitHub shows as code or draws: fenced blocks and spans."""
    text = re.sub(r"^(`{3,})[^\n]*\n.*?^\1$", "", text, flags=re.S | re.M)
    return re.sub(r"(?<!\\)`[^`\n]*`", "", text)


def one(**more: object) -> dict[str, Any]:
    """A document about a stack, with every part that text can be in."""
    made: Any = data.document(
        [Report("one", changes=CHANGES, policy_messages=[MANDATORY, HINT], before=SMALL)], "b", "h"
    )
    made["stacks"][0].update(more)
    return made


def filled(text: str) -> dict[str, Any]:
    """A document in which every free text is the given one."""
    price = {"totals": {state: {"nodes": 1, "chips": 4, "usdPerHour": None, "open": text[:100]} for state in STATES}}
    box = {"name": text, "kind": text, "holds": text}
    picture = {"boxes": [box], "edges": [[text, text]], "marks": {text: "new"}, "thick": [], "dotted": []}
    change = {"op": "create", "name": text, "type": text, "details": [[text, text]]}
    policies = [
        {"policy": text, "mandatory": mandatory, "resource": text, "message": text} for mandatory in (True, False)
    ]
    stack = one(
        changes=[change], policies=policies, before=price, after=price, picture=picture, problem=text, unknown=text,
        figuresAfter={"firstToken": {text: 60.0}},
    )  # fmt: skip
    return {**stack, "base": text[:100], "head": text[:100]}


STATES = ("idle", "running", "full")


def rendered(tmp_path: Path, content: object, *arguments: str) -> str:
    file = tmp_path / "comment.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    done = run("comment", "--render", str(file), *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_document_renders_to_the_comment_that_it_was_made_of(tmp_path: Path) -> None:
    reports = [
        Report("one", changes=CHANGES, planned=True, policy_messages=[MANDATORY, HINT], before=SMALL, after=LARGE),
        Report(
            "bounded",
            changes=CHANGES,
            figures_before=Figures(BudgetUse(60, None), {"qwen": 1200}),
            figures_after=Figures(BudgetUse(60, 50), {"qwen": 600}),
        ),
        huge("two", 30),
        Report("new", "new", changes=CHANGES[2:3], after=SMALL),
        Report("broken", before=SMALL, problem="Pulumi.broken.yaml has 1 problem"),
    ]
    text = rendered(tmp_path, data.document(reports, "main", "this"))
    assert text == comment(reports, "main", "this")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_hostile_text_is_more_than_text(tmp_path: Path, text: str) -> None:
    shown = rendered(tmp_path, filled(text), "--fork")
    assert shown.startswith(f"{MARKER}\n### `pulumi up` would reject stack `one`\n\n{OF_A_FORK}\n\n|")
    assert FORBIDDEN.search(outside_code(shown)) is None, FORBIDDEN.search(outside_code(shown))
    assert "$" not in outside_code(shown).replace("<span>$</span>", "")
    headings = [line for line in outside_code(shown).splitlines() if line.lstrip().startswith("#")]
    assert len(headings) == 2
    assert outside_code(shown).count("<details>") == outside_code(shown).count("</details>") > 2
    drawn = re.search(r"```mermaid\n(.*?)\n```", shown, re.S)
    assert drawn is not None
    assert not re.search(r"click|https?:|[`@\\$]|\"\]\s*\S", drawn[1].replace('"]\n', "")), drawn[1]


def test_the_callers_names_go_before_those_of_the_document(tmp_path: Path) -> None:
    shown = rendered(tmp_path, one(), "--head-name", "123456", "--base-name", "main")
    assert "<sub>main → 123456." in shown


def test_the_warning_stands_only_on_what_a_fork_says(tmp_path: Path) -> None:
    assert OF_A_FORK in rendered(tmp_path, one(), "--fork")
    assert OF_A_FORK not in rendered(tmp_path, one())


def wrong(change: Callable[[dict[str, Any]], object]) -> str:
    content = one()
    change(content)
    return json.dumps(content)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "null",
        "[" * 50_000,
        "# Changes no stack",
        wrong(lambda one: one.update(version=2)),
        wrong(lambda one: one.update(comment="### Changes no stack")),
        wrong(lambda one: one["stacks"][0].update(stack="one`\n# two")),
        wrong(lambda one: one["stacks"][0].update(status="<b>")),
        wrong(lambda one: one["stacks"][0].update(planned="yes")),
        wrong(lambda one: one["stacks"][0].update(problem="x" * 4001)),
        wrong(lambda one: one["stacks"][0]["changes"][0].update(op="approve")),
        wrong(lambda one: one["stacks"][0]["changes"][0].update(details=[["x"] * 3])),
        wrong(lambda one: one["stacks"][0]["before"]["totals"].pop("running")),
        wrong(lambda one: one["stacks"][0]["before"]["totals"]["full"].update(chips=-1)),
        wrong(lambda one: one["stacks"][0]["before"]["totals"]["full"].update(usdPerHour=1e300)),
        wrong(lambda one: one["stacks"][0]["changes"].extend(one["stacks"][0]["changes"][:1] * 2000)),
        wrong(lambda one: one["stacks"].extend(one["stacks"] * 200)),
        wrong(
            lambda one: one["stacks"][0].update(
                picture={"boxes": [], "edges": [["a", "b"]], "marks": {}, "thick": [], "dotted": []}
            )
        ),
        json.dumps(one()) + " " * data.LARGEST,
    ],
)
def test_another_document_is_refused_and_nothing_of_it_is_printed(tmp_path: Path, content: str) -> None:
    file = tmp_path / "comment.json"
    file.write_text(content)
    done = run("comment", "--render", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert "Fix: " in done.stderr
    assert "Changes no stack" not in done.stderr
    assert len(done.stderr) < 600


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "comment.json"
    target.write_text(json.dumps(one()))
    link.symlink_to(target)
    for file in (link, tmp_path, tmp_path / "none.json"):
        assert run("comment", "--render", str(file)).returncode == 2


@pytest.mark.parametrize(("stacks", "count"), [(1, 1000), (60, 20)])
def test_whatever_is_written_can_be_read_and_fits_into_a_comment(tmp_path: Path, stacks: int, count: int) -> None:
    made = data.document([huge(f"s{index}", count) for index in range(stacks)], "b", "h")
    text = rendered(tmp_path, made, "--fork")
    assert len(text) <= LIMIT
    assert OF_A_FORK in text
