"""docs/policies.md and docs/policies/*.md are what the rules and their examples say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.generate_docs import FOLDER, INDEX, OBJECTS, pages
from policies.groups import ALL, GROUPS, Group, page_of
from policies.rules import example_files
from policies.rules.example_files import merged
from policies.rules.rule import STACKS

ROOT = Path(__file__).parents[2]


def code(text: str) -> list[Any]:
    return list(yaml.safe_load_all(text.split("```yaml\n")[1].split("```")[0]))


def shown(rule: str, word: str, other: list[Any]) -> list[Any]:
    """The objects of an example that a reader of the page makes of its change and the objects to which it links."""
    line, _, rest = rule.split(f"\n{word}")[1].partition("\n")
    block = code(rest) if line.endswith((":", "with")) else [{}]
    names = re.findall(r"\(objects\.md#([\w-]+)\)", line)
    base = [one for name in names for one in code(OBJECTS.read_text().split(f"\n## {name}\n")[1])]
    base = base or (other if "the same" in line else [])
    result: Any = block if not base else merged(base if len(base) > 1 else base[0], block[0])
    return result if isinstance(result, list) else [result]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.slug)
def test_the_page_of_a_group_shows_every_rule_with_both_examples_and_the_way_out(group: Group) -> None:
    text = pages()[FOLDER / f"{group.slug}.md"]
    assert group.rules
    for rule in group.rules:
        part = text.split(f"## {rule.name}\n")[1].split("\n## ")[0]
        part = part.replace(". Rejected with\n", ".\n\nRejected: the same with\n")
        assert rule.why in part
        accepted = shown(part, "Accepted", [])
        assert accepted == list(rule.examples.accepted[0].objects)
        assert shown(part, "Rejected", accepted) == list(rule.examples.refused[0].objects)
        assert rule.opt_out in part
        assert all(source in part for source in rule.sources)
        assert all(parameter.about in part for parameter in rule.parameters if parameter != STACKS)


def test_every_rule_has_one_file_of_examples_in_the_folder_of_its_group_and_no_file_is_left_over() -> None:
    wanted = {f"{group.slug.replace('-', '_')}/{rule.name}.yaml" for group in GROUPS for rule in group.rules}
    result = {str(file.relative_to(example_files.FOLDER)) for file in example_files.FOLDER.glob("*/*.yaml")}
    assert result == wanted


def test_the_configuration_that_the_index_shows_is_accepted() -> None:
    shown = json.loads(pages()[INDEX].split("```json\n")[1].split("```")[0])
    rules = {rule.name: rule for rule in ALL}
    assert len(shown) >= 4
    for name, value in shown.items():
        given = dict(value) if isinstance(value, dict) else {"enforcementLevel": value}
        assert given.pop("enforcementLevel", "advisory") in ("mandatory", "advisory", "disabled")
        rules[name].settings(given)


def test_every_link_to_a_rule_leads_to_its_heading() -> None:
    result = 0
    for file in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")]):
        for page, anchor in re.findall(r"\]\((?:docs/|\.\./)?(policies(?:/[\w-]+)?\.md)#([\w-]+)\)", file.read_text()):
            headings = re.findall(r"^#+ (.+)$", (ROOT / "docs" / page).read_text(), re.M)
            assert anchor in [heading.lower().replace(" ", "-") for heading in headings], (
                f"{file.name}: {page}#{anchor}"
            )
            result += 1
    assert result > 40


def test_the_page_that_a_message_names_has_the_rule() -> None:
    for rule in ALL:
        page, _, anchor = page_of(rule).partition("#")
        assert f"\n## {anchor}\n" in (ROOT / page).read_text(), rule.name
