"""Formats of text settings: what is allowed is said in words, never as a regular expression."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from llmd_gke.settings.sections.formats import FORMATS
from tests.llmd_gke.settings.conftest import ROOT

SCHEMA = ROOT / "schema" / "llmd-gke.schema.json"


def test_every_format_of_a_setting_has_words() -> None:
    text = Path(SCHEMA).read_text()
    used = {json.loads(quoted) for quoted in re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', text)}
    assert set(FORMATS) == used
    assert "^" not in "".join(one.allowed + one.fix for one in FORMATS.values())


@pytest.mark.parametrize("pattern", FORMATS)
def test_the_example_in_a_fix_has_the_format(pattern: str) -> None:
    example = FORMATS[pattern].fix.removeprefix("for example ").removesuffix(", in quotes").strip("'")
    if FORMATS[pattern].fix != example:
        assert re.fullmatch(pattern, example)
