"""Settings that are refused or accepted, as data: changes of stack ``eu4a`` in ``cases``, and what is found wrong.

``given`` is a change that all cases of a group share. A change is written by path (``models.0.uri``); ``(gone)``
removes a key. Behind it come the findings: ``key [rule]``, and words that the fix must have where it names a value. A
case without findings is accepted. In ``warnings.yaml`` all cases are accepted: ``+`` is a warning that the stack does
not have without the change, ``-`` one that it has, but for those about models that nobody has tested.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_gke.settings import SettingsError, parse
from llmd_gke.settings.validation import SettingFinding
from tests.llmd_gke.settings.conftest import Config

GONE = "(gone)"


CASES = Path(__file__).with_name("cases")
FILES = sorted({*CASES.glob("*.yaml")} - {CASES / "warnings.yaml"})


def cases(*files: Path) -> Iterator[tuple[str, dict[str, Any], list[str]]]:
    for file in files:
        for group in yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader):
            for number, (change, *findings) in enumerate(group["cases"], 1):
                yield f"{group['title']} ({number})", {**group.get("given", {}), **change}, findings


def changed(config: Config, changes: Mapping[str, Any]) -> Config:
    """The configuration with these values. A value at a position of a list is its last item."""
    for path, value in changes.items():
        section, *steps = path.split(".")
        node: Any = config
        keys = [section if ":" in section else f"llmd-gke:{section}", *steps]
        for key in keys[:-1]:
            node = node[int(key)] if isinstance(node, list) else node.setdefault(key, {})
        match node:
            case list():
                node[int(keys[-1]) :] = [copy.deepcopy(value)]
            case _ if value == GONE:
                del node[keys[-1]]
            case _:
                node[keys[-1]] = copy.deepcopy(value)
    return config


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_settings_are_accepted_or_refused_with_key_rule_and_fix(config: Config, file: Path) -> None:
    wrong: dict[str, list[str]] = {}
    for title, changes, expected in cases(file):
        try:
            parse(changed(copy.deepcopy(config), changes), "eu4a")
            findings = ()
        except SettingsError as error:
            findings = error.findings
        wrong |= differs(title, findings, expected)
    assert wrong == {}


def test_settings_are_accepted_with_these_warnings(config: Config) -> None:
    def warnings(config: Config) -> list[SettingFinding]:
        return [one for one in parse(config, "eu4a").warnings if one.finding.rule != "model-untested"]

    before, wrong = warnings(copy.deepcopy(config)), dict[str, list[str]]()
    for title, changes, expected in cases(CASES / "warnings.yaml"):
        after = warnings(changed(copy.deepcopy(config), changes))
        places = [{(one.key, one.finding.rule) for one in some} for some in (before, after)]
        more = [one for one in after if (one.key, one.finding.rule) not in places[0]]
        less = [one for one in before if (one.key, one.finding.rule) not in places[1]]
        wrong |= differs(title, more, [one.removeprefix("+ ") for one in expected if one.startswith("+ ")])
        wrong |= differs(f"{title}, less", less, [one.removeprefix("- ") for one in expected if one.startswith("- ")])
    assert wrong == {}


def differs(title: str, findings: Sequence[SettingFinding], expected: Sequence[str]) -> dict[str, list[str]]:
    """The findings by their title if they are not the expected ones: key, rule, and words of the fix."""
    given = [f"{one.key.removeprefix('llmd-gke:')} [{one.finding.rule}] {one.finding.fix}" for one in findings]
    fits = len(given) == len(expected) and all(
        said.startswith(f"{key} {rule} ") and words in said
        for said, (key, rule, words) in zip(given, ((*one.split(" ", 2), "")[:3] for one in expected), strict=True)
    )
    return {} if fits else {title: given}
