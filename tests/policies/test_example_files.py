"""Examples are bases and changes of them."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from policies.rules.example_files import merged, read


@pytest.mark.parametrize(
    ("value", "change", "result"),
    [
        ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": 4}}, {"a": 1, "b": {"c": 4, "d": 3}}),
        ({"a": 1, "b": 2}, {"b": None}, {"a": 1}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": [{"b": 1}, {"b": 2}]}, {"a": {1: {"c": 3}}}, {"a": [{"b": 1}, {"b": 2, "c": 3}]}),
        ({"a": [1]}, {"a": {1: {"b": 2}}}, {"a": [1, {"b": 2}]}),
        ({"a": [1, 2, 3]}, {"a": {0: None}}, {"a": [2, 3]}),
        ({"a": "text"}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ([{"a": 1}], {}, [{"a": 1}]),
    ],
)
def test_a_change_is_a_merge_patch_that_can_also_change_lists(value: Any, change: Any, result: Any) -> None:
    before = yaml.safe_dump(value)
    assert merged(value, change) == result
    assert yaml.safe_dump(value) == before


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ({"refused": [{"base": "clutser"}], "accepted": []}, "clutser"),
        ({"bases": {"cluster": {"kind": "A"}}, "refused": [], "accepted": []}, "cluster"),
        ({"refused": [{"changes": {}}], "accepted": []}, "changes"),
    ],
)
def test_a_name_that_is_wrong_or_taken_is_named(content: dict[str, Any], named: str) -> None:
    with pytest.raises((LookupError, ValueError), match=named):
        read(content)
