"""docs/policies.md is what the rules say."""

from __future__ import annotations

from policies.generate_docs import PAGE, main, page
from policies.rules import ALL


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == page(), "run: python policies/generate_docs.py"
    assert main(["--check"]) == 0


def test_the_page_shows_every_rule_with_both_examples_and_the_way_out() -> None:
    text = page()
    for rule in ALL:
        part = text.split(f"### {rule.name}\n")[1].split("\n### ")[0]
        assert rule.why in part
        assert rule.bad.yaml.rstrip() in part
        assert rule.good.yaml.rstrip() in part
        assert "Opt out:" in part
        assert all(source in part for source in rule.sources)
        assert all(parameter.about in part for parameter in rule.parameters)
