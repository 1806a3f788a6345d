"""Whatever the settings refuse is refused by the policy pack, too, or there is a reason why it is not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from llmd_gke.repository import CLONE
from policies.groups import GROUPS

TABLE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("settings_counterparts.yaml").read_text())


def findings() -> Iterator[str]:
    """Names of findings: written in the code, or made there and expected by a case of the settings."""
    for folder in ("llmd_gke/settings", "llmd_gke/rules"):
        for file in (CLONE / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                match node:
                    case ast.Call(func=ast.Name("Finding"), args=[ast.Constant(str(name)), *_]):
                        yield name
                    case _:
                        pass
    for file in (CLONE / "tests/llmd_gke/settings/cases").glob("*.yaml"):
        for group in yaml.safe_load(file.read_text()):
            for _, *expected in group["cases"]:
                yield from (name for text in expected for name in re.findall(r"^(?:[+-] )?\S+ \[([a-z-]+)\]", text))


def test_each_finding_of_the_settings_has_a_policy_or_a_reason_why_not() -> None:
    policies = {rule.name for group in GROUPS for rule in group.rules}
    listed = [*TABLE["policies"], *(name for group in TABLE["none"] for name in group["findings"])]
    assert sorted(listed) == sorted({*findings()} - policies), "tests/policies/settings_counterparts.yaml"
    assert {name for names in TABLE["policies"].values() for name in names} <= policies
