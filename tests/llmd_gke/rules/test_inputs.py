"""Walking objects whose fields may be missing, unknown or misshapen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llmd_gke.rules.inputs import UNKNOWN, Input, Value

VALUES: st.SearchStrategy[Value] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.text("a1.-é", max_size=5),
        st.just(UNKNOWN),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("abc", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES, st.lists(st.text("abc", max_size=3), max_size=4))
def test_no_value_whatever_makes_the_walk_fail(value: Value, keys: list[str]) -> None:
    node = Input(value).get(*keys)
    assert isinstance(node.present(), bool)
    node.text()
    node.integer()
    node.boolean()
    for item in node.each():
        item.text()
    for _, item in node.entries():
        item.text()


def test_a_chain_over_a_missing_link_is_missing_and_says_nothing() -> None:
    node = Input({"spec": {}}).get("spec", "rules", "first")
    assert node.value is None
    assert node.text() is None
    assert node.notes.unknown == []
    assert node.notes.malformed == []


def test_below_an_unknown_value_everything_is_unknown_and_the_unknown_one_is_named() -> None:
    root = Input({"spec": UNKNOWN})
    assert root.get("spec", "rules").present() is False
    assert list(root.get("spec", "rules").each()) == []
    assert root.notes.unknown == ["spec"]


def test_a_wrong_shape_is_named_by_path_and_never_by_value() -> None:
    root = Input({"spec": {"rules": "hunter2"}})
    assert list(root.get("spec", "rules").each()) == []
    assert root.notes.malformed == ["spec.rules is a string but must be a list"]


def test_whole_numbers_may_be_written_as_text_and_truth_values_are_no_numbers() -> None:
    assert Input("4").integer() == 4
    assert Input(4.0).integer() == 4
    assert Input(4.5).integer() is None
    for too_large in (2**63, -(2**70), 1e308, float("inf"), float("nan"), "9" * 5000, "²"):
        assert Input(too_large).integer() is None, "what no API takes is reported as malformed"
    flag = Input(True, "n")
    assert flag.integer() is None
    assert flag.notes.malformed == ["n is a boolean but must be a number"]


def test_paths_count_list_items() -> None:
    root = Input({"a": [{"b": 1}, {"b": 2}]})
    assert [item.get("b").path for item in root.get("a").each()] == ["a[0].b", "a[1].b"]
