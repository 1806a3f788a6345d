"""Committed files with results of tests."""

from __future__ import annotations

from pathlib import Path

rewrite = False
"""Whether the results become the files: ``pytest --rewrite``."""


def remembered(file: Path, text: str) -> str:
    """The content of the file, which ``--rewrite`` replaces by ``text``."""
    if rewrite:
        file.write_text(text, encoding="utf-8")
    return file.read_text(encoding="utf-8")
