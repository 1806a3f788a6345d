"""What the pages show of commands is what the commands print: CI runs `make docs`, which must change nothing."""

from __future__ import annotations

from pathlib import Path

from operations import pages


def test_a_block_a_table_and_a_picture_are_made_anew(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    mark = "<!-- made by `{}` (make docs) -->\n"
    block, table = mark.format("llmd-gke logs --stack eu4a"), mark.format("python -m operations.symptoms pod")
    page.write_text(
        f"before\n\n{block}````text\nold\n```\n````\n\n{table}|old|\n\n{block}![names](names.svg)\n\nafter\n"
    )
    fresh = pages.fresh(page)
    assert fresh.keys() == {page, tmp_path / "names.svg"}
    queries = fresh[tmp_path / "names.svg"]
    assert "unschedulable" in queries
    assert fresh[page].startswith(f"before\n\n{block}````text\n{queries}````\n\n{table}| ")
    assert fresh[page].endswith(f" |\n\n{block}![names](names.svg)\n\nafter\n")
