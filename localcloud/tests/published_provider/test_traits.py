"""The tables of the hand-written provider against the schema of the published one."""

from __future__ import annotations

from localcloud.providers.google import generate_traits
from localcloud.providers.google.registry import KINDS
from localcloud.providers.google.schema import TRAITS, type_of


def test_the_table_is_what_the_schema_and_the_checks_of_the_published_provider_say() -> None:
    assert generate_traits.content(generate_traits.printed()) == TRAITS.read_text()


def test_every_type_of_the_program_is_in_the_plugin_and_every_input_has_a_type_in_the_sdk() -> None:
    types = generate_traits.printed()
    assert types.keys() == KINDS.keys()
    for token, properties in types.items():
        inputs = [one["path"] for one in properties if one["input"] and not one["path"].startswith("nodePools.")]
        typed = [path for path in inputs if type_of(token, path)]
        assert len(typed) > len(inputs) * 0.9, token
