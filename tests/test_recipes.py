"""The recipes of the documentation: each block fits the file that `make new` writes, each command can be called."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import Any

import pytest
import yaml
from typer.main import get_command

from llmd_gke.google_errors import ERRORS
from llmd_gke.repository import CLONE
from llmd_gke.settings import parse
from llmd_gke.settings.load import read_config
from operations.cli import application
from operations.symptoms import CLIENTS, NO_CHIPS, PODS

PAGE = (CLONE / "docs" / "recipes.md").read_text(encoding="utf-8")
RECIPE = re.compile(r"^\*\*(?P<title>[^*]+)\*\*(?P<text>[^\n]+\n)```yaml\n(?P<block>.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"`((?:llmd-gke|make|pulumi) [^`]+)`")
RECIPES = [pytest.param(found["text"], found["block"], id=found["title"]) for found in RECIPE.finditer(PAGE)]
EXPLAINED = {one.command for one in (*CLIENTS, NO_CHIPS, *PODS)} | {
    one for error in ERRORS for one in COMMAND.findall(error.fix)
}
"""Commands of explanations. `pulumi`, `kubectl` and `gcloud` ask Google or a cluster, and are not tried."""

NEW = read_config(CLONE, "dev") | {"llmd-gke:frontDoor": {"callers": [{"name": "trial"}]}}
"""What `make new` writes."""


def merged(old: Any, new: Any) -> Any:
    """``old`` with ``new`` in it: sections key by key, entries of lists by name."""
    match old, new:
        case dict(), dict():
            return old | {key: merged(old.get(key), value) for key, value in new.items()}
        case list(), [{"name": _}, *_]:
            entries = {entry["name"]: entry for entry in old}
            return [*(entries | {entry["name"]: merged(entries.get(entry["name"]), entry) for entry in new}).values()]
        case _:
            return new


def can_be_called(command: str) -> None:
    match shlex.split(command):
        case ["llmd-gke", name, *arguments]:
            group: Any = get_command(application([name]))
            group.commands[name].make_context(name, arguments)
        case ["make", *words]:
            subprocess.run(["make", "--dry-run", *words], cwd=CLONE, check=True, capture_output=True)
        case _:
            assert re.fullmatch(r"pulumi (config set --secret llmd-gke:\w+|preview) --stack demo", command), command


@pytest.mark.parametrize(("text", "block"), RECIPES)
def test_a_recipe_is_a_stack_without_errors_and_a_command_that_exists(text: str, block: str) -> None:
    config = merged(NEW, yaml.safe_load(block))
    assert config != NEW
    parse(config, "demo")
    commands = COMMAND.findall(text)
    assert commands
    for command in commands:
        can_be_called(command)


def test_no_block_of_the_page_is_passed_over() -> None:
    assert len(RECIPES) == PAGE.count("```yaml\n")


@pytest.mark.parametrize("command", sorted(one.format(stack="demo") for one in EXPLAINED if one.startswith("llmd-gke")))
def test_a_command_that_an_explanation_names_can_be_called(command: str) -> None:
    can_be_called(command)
