"""The shipped stacks pass their own pack."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies.groups import ALL, GROUPS
from policies.pack import Analyzer
from tests.components.variants import VARIANTS, variant
from tests.graphs import load
from tests.policies.conftest import InStack
from tests.policies.support import recorded, run_pack

ROOT = Path(__file__).parents[2]
STACKS = sorted(file.name.split(".")[1] for file in ROOT.glob("Pulumi.*.yaml"))


@pytest.mark.parametrize(
    ("stack", "preview"), [*((stack, False) for stack in STACKS), ("door", True), ("local", True), ("prod", True)]
)
def test_a_shipped_stack_raises_no_alarm(stack: str, preview: bool, in_stack: InStack) -> None:
    in_stack(stack)
    program = recorded(load(ROOT, stack, preview=preview))
    assert len(program) > 40
    diagnostics = run_pack(program)
    assert [one for one in diagnostics if one.level == "MANDATORY"] == []
    assert [one for one in diagnostics if "can't run policy" in one.text] == []


@pytest.mark.parametrize("name", VARIANTS)
def test_no_setting_raises_an_alarm_and_no_message_has_a_secret(name: str, in_stack: InStack) -> None:
    in_stack("eu4a")
    diagnostics = run_pack(recorded(variant(name)))
    assert [one for one in diagnostics if one.level == "MANDATORY"] == []
    assert not any("c2VjcmV0" in one.text or "of_tests" in one.text or "of-tests" in one.text for one in diagnostics)


@pytest.mark.parametrize("preview", [True, False], ids=["first-preview", "update"])
def test_the_secrets_of_the_program_are_marked_as_secret(in_stack: InStack, preview: bool) -> None:
    in_stack("prod")
    program = recorded(variant("storage", preview=preview))
    assert sum("stringData" in one.inputs for one in program if one.type == "kubernetes:core/v1:Secret") == 3
    rules = [rule for rule in ALL if rule.name in ("plain-secret-value", "plain-secret")]
    assert run_pack(program, Analyzer(rules)) == []


def test_a_model_across_hosts_without_its_preset_is_noticed_also_beside_the_charts_of_a_front_door(
    in_stack: InStack,
) -> None:
    in_stack("eu4a")
    door = [one for one in recorded(load(ROOT, "eu4a", preview=False)) if one.type == "kubernetes:helm.sh/v3:Release"]
    hosts = recorded(variant("hosts"))
    program = [one for one in [*hosts, *door] if one.name != "models-workers-config"]
    assert len(program) == len(hosts) + len(door) - 1
    diagnostics = run_pack(program)
    assert {one.policy for one in diagnostics if one.urn.endswith("big-service")} == {"pipeline-worker-config"}


def test_nothing_of_the_shipped_stacks_is_exposed(in_stack: InStack) -> None:
    """Not even as advice, and with the rules as they are in production."""
    exposure = [rule for group in GROUPS if group.slug == "exposure" for rule in group.rules]
    assert len(exposure) > 5
    in_stack("prod")
    for stack in STACKS:
        assert run_pack(recorded(load(ROOT, stack, preview=False)), Analyzer(exposure)) == []
