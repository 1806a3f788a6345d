"""What the pages show of commands is what the commands print."""

from __future__ import annotations

from pathlib import Path

import pytest

from operations import pages
from tests.operations.support import ROOT


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STACK", "CLOUD", "COLUMNS", "LLMD_GKE_ROOT", "LLMD_GKE_CLOUD"):
        monkeypatch.delenv(name, raising=False)


def test_blocks_and_pictures_in_the_pages_are_current() -> None:
    shown = [mark["words"] for page in pages.pages(ROOT) for mark in pages.MARK.finditer(page.read_text())]
    assert {command.split()[1] for command in shown if command.startswith("llmd-gke")} >= {"cost", "graph"}
    assert {"python -m operations.comment.example", "python -m operations.cost.example"} <= {*shown}
    assert [str(file.relative_to(ROOT)) for file in pages.stale(ROOT)] == [], "run: make docs"


def test_a_block_that_is_out_of_date_is_noticed_and_mended(tmp_path: Path) -> None:
    mark = "<!-- made by `llmd-gke graph --stack eu4a --format chain` (make docs) -->\n"
    page = tmp_path / "README.md"
    page.write_text(f"before\n\n{mark}````text\nold\n```\n````\n\n{mark}![chain](chain.svg)\n\nafter\n")
    outdated = pages.stale(tmp_path)
    assert set(outdated) == {page, tmp_path / "chain.svg"}
    assert outdated[page].startswith(f"before\n\n{mark}````text\n 1. project-")
    assert outdated[page].endswith(f"\n````\n\n{mark}![chain](chain.svg)\n\nafter\n")
    for file, text in outdated.items():
        file.write_text(text)
    assert pages.stale(tmp_path) == {}
