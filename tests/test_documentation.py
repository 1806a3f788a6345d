"""What the pages name exists: policies, tests, files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("localcloud/**/*.md")])
FOLDERS = ("docs", "docs/contributing", "localcloud/docs")
INCIDENTS = (ROOT / "docs" / "contributing" / "incidents.md").read_text()


def test_every_test_that_is_named_exists() -> None:
    tests = {
        name
        for folder in ("tests", "localcloud/tests")
        for file in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(), re.M)
    }
    named = set(re.findall(r"`(test_\w+)`", INCIDENTS))
    assert len(named) > 30
    assert named - tests == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)(?:#[\w-]+)?\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    linked = set(re.findall(r"\]\(([\w./-]+\.md)\)", index))
    pages = {page for folder in FOLDERS for page in (ROOT / folder).glob("*.md")}
    assert {(ROOT / "docs" / link).resolve() for link in linked} == pages - {ROOT / "docs" / "README.md"}
