"""What the pages name exists: rules, policies, tests, files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from policies.rules import ALL, page_of

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
INCIDENTS = (ROOT / "docs" / "incidents.md").read_text()
KNOWN_INCIDENTS = 24


def literals(folder: str) -> set[str]:
    """Every text that stands in the source of a package."""
    return {
        node.value
        for file in ROOT.joinpath(folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_policy_that_is_named_exists() -> None:
    named = re.findall(r"\[`([\w-]+)`\]\((policies/[\w-]+\.md#[\w-]+)\)", INCIDENTS)
    assert len(named) > 20
    assert {(name, f"docs/{page}") for name, page in named} - {(rule.name, page_of(rule)) for rule in ALL} == set()


def test_every_rule_of_the_settings_that_is_named_exists() -> None:
    lists = re.findall(r"\b[Rr]ules? ((?:`[\w-]+`(?:, | and )?)+)", INCIDENTS)
    named = {name for one in lists for name in re.findall(r"`([\w-]+)`", one)}
    assert len(named) > 5
    written = literals("llmd_gke/rules") | literals("llmd_gke/settings")
    # Rules about an accelerator have its kind before their name (``Accelerator.rule``).
    assert named - written - {f"tpu-{name}" for name in written} == set()


def test_every_test_that_is_named_exists() -> None:
    tests = {
        name
        for file in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(), re.M)
    }
    named = set(re.findall(r"`(test_\w+)`", INCIDENTS))
    assert len(named) > 30
    assert named - tests == set()


def test_every_incident_is_there_and_says_what_prevents_it() -> None:
    parts = re.split(r"^### Incident (\d+): ", INCIDENTS.split("\n## What the first")[0], flags=re.M)[1:]
    assert [int(number) for number in parts[::2]] == list(range(1, KNOWN_INCIDENTS + 1))
    for text in parts[1::2]:
        assert re.search(r"`test_\w+`|policies/[\w-]+\.md#|\*Open\*", text), text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)(?:#[\w-]+)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert linked == {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 8 * 1024


def _broken_blocks(text: str) -> list[str]:
    """Lines in which a heading or a table row has run into a neighbouring block, outside code."""
    without_code = re.sub(r"^ *(`{3,})[^`\n]*\n.*?^ *\1 *$", "", text, flags=re.M | re.S)
    return [
        line
        for line in without_code.splitlines()
        if re.search(r"\S\s#{2,4} \S", line)
        or re.fullmatch(r"#+ *", line)
        or (line.startswith("|") and not line.rstrip().endswith("|"))
        or ("|---" in line and not line.lstrip().startswith("|---"))
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_headings_and_tables_of_a_page_are_blocks_of_their_own(page: Path) -> None:
    assert _broken_blocks(page.read_text()) == []


@pytest.mark.parametrize(
    "text", ["costs. ## Everyday tasks", "##\nWhat is imitated", "| Lost | |---|---| a host |", "| a"]
)
def test_a_block_that_has_run_into_another_is_found(text: str) -> None:
    assert _broken_blocks(text) != []
