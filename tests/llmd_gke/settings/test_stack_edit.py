"""Switching a model in a stack file: one line changes, and the way back leaves the file as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmd_gke.settings import stack_yaml
from llmd_gke.settings.stack_edit import with_switch
from llmd_gke.settings.stack_files import Unusable

ROOT = Path(__file__).parents[3]

BLOCK = """\
# a stack
config:
  llmd-gke:models:
    - name: a # the first
      pool: p
    # the second
    - pool: p
      name: "b"
      replicas: 2   # two
  other:key: "1"
"""


def stop(text: str, model: str) -> str:
    return with_switch(text, model, "stopped", on=True)


def start(text: str, model: str) -> str:
    return with_switch(text, model, "stopped", on=False)


@pytest.mark.parametrize(("model", "after"), [("a", "    - name: a # the first"), ("b", '      name: "b"')])
def test_one_line_is_added_below_the_name_and_removed_again(model: str, after: str) -> None:
    stopped = stop(BLOCK, model)
    lines = stopped.splitlines()
    assert lines[lines.index(after) + 1] == "      stopped: true"
    assert [one for one in lines if one != "      stopped: true"] == BLOCK.splitlines()
    assert start(stopped, model) == BLOCK


@pytest.mark.parametrize("text", [BLOCK.replace("\n", "\r\n"), "\ufeff" + BLOCK, BLOCK.rstrip("\n")])
def test_line_ends_and_the_end_of_the_file_stay(text: str) -> None:
    stopped = stop(text, "b")
    assert ("\r" in stopped) == ("\r" in text)
    assert stopped.count("\r\n") in (0, stopped.count("\n"))
    assert start(stopped, "b") == text


def test_a_name_on_the_last_line_without_line_end_gets_a_line_below() -> None:
    text = "config:\n  llmd-gke:models:\n    - name: a"
    assert stop(text, "a") == f"{text}\n      stopped: true"


@pytest.mark.parametrize(
    "before", ["      stopped: false # why\n", "      stopped: true # why\n", "      stopped: off # why\n"]
)
def test_a_key_that_is_there_gets_the_other_value_and_keeps_its_comment(before: str) -> None:
    text = BLOCK.replace("      pool: p\n", f"      pool: p\n{before}", 1)
    assert stop(text, "a") == text.replace(before, "      stopped: true # why\n")
    assert start(stop(text, "a"), "a") == text.replace(before, "      stopped: false # why\n")


def test_a_model_on_one_line_stays_on_it() -> None:
    text = "config:\n  llmd-gke:models: [{name: a, pool: p}, {pool: p, name: b}] # both\n"
    assert stop(text, "b") == text.replace("name: b", "name: b, stopped: true")
    assert start(stop(text, "b"), "b") == text.replace("name: b", "name: b, stopped: false")


def test_the_first_key_of_a_model_is_not_removed_with_its_dash() -> None:
    text = "config:\n  llmd-gke:models:\n    - stopped: true\n      name: a\n"
    assert start(text, "a") == text.replace("true", "false")


@pytest.mark.parametrize("text", [BLOCK, "config: {}\n", "config:\n  llmd-gke:models: 3\n", "[]\n"])
def test_a_model_that_is_not_there_is_named(text: str) -> None:
    with pytest.raises(Unusable, match="has no model c"):
        stop(text, "c")


def test_a_layout_that_an_edit_would_damage_is_refused() -> None:
    text = "config:\n  llmd-gke:models:\n    - ? name\n      : a\n"
    with pytest.raises(Unusable, match="by a program") as refused:
        stop(text, "a")
    assert "stopped: true for model a by hand" in refused.value.finding.fix


@pytest.mark.parametrize("file", sorted(ROOT.glob("Pulumi.*.yaml")), ids=lambda file: file.name)
def test_each_stack_file_of_this_repository_can_be_switched_and_switched_back(file: Path) -> None:
    text = file.read_text()
    content = stack_yaml.read(text)
    assert isinstance(content, dict)
    for model in content["config"]["llmd-gke:models"]:
        stopped = stop(text, model["name"])
        assert len(stopped.splitlines()) == len(text.splitlines()) + 1
        assert start(stopped, model["name"]) == text
