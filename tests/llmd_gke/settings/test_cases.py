"""Settings that are refused or accepted, as data: changes of stack ``eu4a`` in ``cases``, and what is found wrong.

``given`` is a change that all cases of a group share. A change is written by path (``models.0.uri``); ``(gone)``
removes a key. Behind it come the findings: ``key [rule]``, and words that the fix must have where it names a value. A
case without findings is accepted.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmd_gke.settings import SettingsError, parse
from tests.llmd_gke.settings.conftest import Config

GONE = "(gone)"


def cases() -> Iterator[Any]:
    for file in sorted(Path(__file__).with_name("cases").glob("*.yaml")):
        for group in yaml.safe_load(file.read_text(encoding="utf-8")):
            for number, (change, *findings) in enumerate(group["cases"], 1):
                changes = {**group.get("given", {}), **change}
                yield pytest.param(changes, findings, id=f"{file.stem}: {group['title']} ({number})")


def changed(config: Config, changes: Mapping[str, Any]) -> Config:
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


@pytest.mark.parametrize(("changes", "expected"), list(cases()))
def test_settings_are_accepted_or_refused_with_key_rule_and_fix(
    config: Config, changes: dict[str, Any], expected: list[str]
) -> None:
    try:
        parse(changed(config, changes), "eu4a")
        findings = ()
    except SettingsError as error:
        findings = error.findings
    given = [f"{one.key.removeprefix('llmd-gke:')} [{one.finding.rule}] {one.finding.fix}" for one in findings]
    assert len(given) == len(expected), given
    for one, said in zip(expected, given, strict=True):
        key, rule, words = one.split(" ", 2) if one.count(" ") > 1 else (*one.split(" "), "")
        assert said.startswith(f"{key} {rule} ")
        assert words in said
