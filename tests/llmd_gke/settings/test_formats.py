"""Formats of text settings: what is allowed is said in words, never as a regular expression."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from llmd_gke.settings.sections.formats import FORMATS
from tests.llmd_gke.settings.conftest import ROOT, Config, Refuse

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


@pytest.mark.parametrize(
    ("section", "changes", "key", "texts"),
    [
        ("cluster", {"minVersion": "latest"}, "minVersion", "a version of GKE, such as 1.35,|for example '1.35', in"),
        ("cluster", {"maintenance": {"start": "2am"}}, "maintenance.start", "HH:MM, from 00:00 to 23:59|'02:00', in"),
        ("monitoring", {"runbookUrl": "wiki"}, "runbookUrl", "starts with https://|for example https://github.com/"),
    ],
)
def test_a_value_of_another_format_is_refused_with_words_and_an_example(
    config: Config, refused: Refuse, section: str, changes: dict[str, object], key: str, texts: str
) -> None:
    config[f"llmd-gke:{section}"] = {**config.get(f"llmd-gke:{section}", {}), **changes}
    message = refused(config)
    assert f"llmd-gke:{section}.{key} = " in message
    for text in texts.split("|"):
        assert text in message
