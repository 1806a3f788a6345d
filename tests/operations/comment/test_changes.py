"""What changed between two graphs or in the engine's plan, and which values may be shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llmd_common.pulumi_signatures import SECRET as SECRET_MARK
from llmd_common.pulumi_signatures import SIGNATURE, UNKNOWN
from llmd_gke.graph.parts import Parts
from operations.comment import changes, values
from operations.comment.changes import Change
from operations.comment.picture import difference
from operations.exits import BadInput
from tests.operations.graphs import graph, node

SECRET = {SIGNATURE: SECRET_MARK, "value": "geheim"}


def test_resources_are_new_removed_or_changed_and_components_are_no_resources() -> None:
    before = graph(node("box"), node("kept", inside="box"), node("old", inside="box"), node("more", inside="box"))
    after = graph(
        node("box"),
        node("kept", inside="box"),
        node("new", inside="box"),
        node("more", inside="box", inputs={"size": 2}),
        node("shelf", ["box"]),
    )
    assert changes.between(before, after) == [
        Change("delete", "old", "gcp:test:Thing"),
        Change("create", "new", "gcp:test:Thing"),
        Change("update", "more", "gcp:test:Thing", (("size", "unset → 2"),)),
    ]
    assert changes.between(after, after) == []


def test_lost_protection_is_a_change() -> None:
    before = graph(node("box"), node("one", inside="box", protect=True))
    after = graph(node("box"), node("one", inside="box"))
    assert changes.between(before, after)[0].details == (("protect", "true → false"),)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({"a": {"b": [1.0, 2.0]}}, {"a": {"b": [1.0, 3.0]}}, [("a.b[1]", "2 → 3")]),
        ({"a": [1]}, {"a": [1, 2]}, [("a", "")]),
        ({"a": True}, {"a": False}, [("a", "true → false")]),
        ({"a": "x"}, {"a": UNKNOWN}, [("a", "x → known later")]),
        ({"a": "x"}, {"a": "y" * 61}, [("a", "")]),
        ({"a": "x"}, {"a": "two\nlines"}, [("a", "")]),
        ({"a": "x", "b": 1}, {"a": "x", "b": 1}, []),
    ],
)
def test_a_difference_is_shown_by_its_path_and_short_values(
    before: object, after: object, shown: list[tuple[str, str]]
) -> None:
    assert values.changed("gcp:test:Thing", before, after) == shown


@pytest.mark.parametrize(
    ("type_", "inputs"),
    [
        pytest.param("kubernetes:core/v1:Secret", {"data": {"x": "geheim"}}, id="a Secret"),
        pytest.param("gcp:test:Thing", {"apiKey": "geheim"}, id="a key"),
        pytest.param("gcp:test:Thing", {"args": ["--hf-token=geheim"]}, id="an argument"),
        pytest.param("gcp:test:Thing", {"x": {"password": "geheim"}}, id="a password"),
        pytest.param("gcp:test:Thing", {"x": SECRET}, id="a Pulumi secret"),
        pytest.param("gcp:test:Thing", {"x": "hf_geheim12345"}, id="a token by its looks"),
        pytest.param("gcp:test:Thing", {"x": "geheim" * 8}, id="a long run of letters"),
        pytest.param("gcp:test:Thing", {"x": "-----BEGIN geheim"}, id="a key by its looks"),
        pytest.param("gcp:test:Thing", {"x": "http://user:geheim@proxy:3128"}, id="a password in an address"),
        pytest.param("gcp:test:Thing", {"x": "DB_PASS=geheim"}, id="an assignment"),
        pytest.param("gcp:test:Thing", {"auth": "geheim"}, id="a name that settings hide"),
    ],
)
@pytest.mark.parametrize("before", [{}, {"x": "0", "args": ["0"], "apiKey": "0", "data": {"x": "0"}}])
def test_what_could_be_a_secret_is_not_shown_on_either_side(type_: str, inputs: Any, before: Any) -> None:
    for one, other in ((before, inputs), (inputs, before)):
        changes = values.changed(type_, one, other)
        assert changes
        assert "geheim" not in str(changes)


def step(op: str, name: str = "one", **more: object) -> dict[str, object]:
    urn = f"urn:pulumi:one::llmd-gke::llmd-gke:test:Box$gcp:test:Thing::{name}"
    return {"op": op, "urn": urn, "newState": {"custom": True, "inputs": {"x": "geheim"}}, **more}


def plan(tmp_path: Path, *steps: dict[str, object]) -> list[Change]:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"config": {}, "steps": steps, "changeSummary": {}}))
    return changes.planned(file)


def test_the_engines_plan_says_what_is_replaced_and_by_which_input(tmp_path: Path) -> None:
    steps = plan(
        tmp_path,
        step("same", "kept"),
        step("delete-replaced"),
        step("replace", diffReasons=["machineType", "size"], replaceReasons=["machineType"]),
        step("create-replacement"),
        step("delete", "old"),
        step("update", "two", diffReasons=["spec"], detailedDiff={"spec.replicas": {"kind": "update"}}),
        step("update", "three", detailedDiff={"zone": {"kind": "update-replace"}}),
        step("refresh", "read"),
    )
    thing = "gcp:test:Thing"
    assert steps == [
        Change("replace", "one", thing, (("machineType", "replaces"), ("size", ""))),
        Change("delete", "old", thing),
        Change("update", "three", thing, (("zone", "replaces"),)),
        Change("update", "two", thing, (("spec.replicas", ""),)),
    ]
    compared = [Change("update", "two", thing, (("spec.replicas", "3 → 4"),))]
    assert changes.with_steps(steps, compared)[3].details == (("spec.replicas", "3 → 4"),)
    assert "geheim" not in str(steps)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"steps": {}}', "Previewing update (eu4a):"])
def test_a_file_that_is_no_plan_is_named_with_the_command_that_makes_one(tmp_path: Path, text: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text)
    with pytest.raises(BadInput, match=r"(?s)plan\.json is not the output.*Fix: pulumi preview --json"):
        changes.planned(file)
    with pytest.raises(BadInput, match="does not exist"):
        changes.planned(tmp_path / "none.json")


def drawn(before: Parts, after: Parts) -> str:
    picture = difference(before, after)
    assert picture is not None
    return picture.text()


def test_the_picture_holds_what_differs_and_its_neighbours_only() -> None:
    far = [node("far"), node("far-one", inside="far")]
    near = [node("near", ["far-one"]), node("near-one", inside="near")]
    old = [node("old", ["near-one"]), node("old-one", inside="old")]
    new = [node("new", ["near-one"]), node("new-one", inside="new")]
    before, after = Parts(graph(*far, *near, *old)), Parts(graph(*far, *near, *new))
    assert difference(before, before) is None
    shown = drawn(before, after)
    assert "<b>near</b>" in shown
    assert "<b>far</b>" not in shown
    assert "  c_near ==> c_new" in shown
    assert "  c_near -.-> c_old" in shown
    assert "  class c_new new" in shown
    assert "  class c_old gone" in shown
