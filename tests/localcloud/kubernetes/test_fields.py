"""Parts of objects that may be absent, or of another kind."""

from __future__ import annotations

import pytest

from localcloud.kubernetes import fields

OBJECT = {
    "metadata": {"name": "web", "namespace": "models", "uid": "u", "labels": {"app": "web", "odd": 1}},
    "spec": {"ports": [{"port": 80}, "odd", {"port": "81"}], "hosts": ["a", 1, None], "replicas": 2, "on": True},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Old", "status": "False"}]},
}


@pytest.mark.parametrize("path", [("none",), ("none", "below"), ("spec", "ports", "port"), ("spec", "replicas", "x")])
def test_what_is_absent_or_of_another_kind_is_empty(path: tuple[str, ...]) -> None:
    assert fields.get(OBJECT, *path) is None
    assert fields.part(OBJECT, *path) == {}
    assert fields.each(OBJECT, *path) == fields.texts(OBJECT, *path) == []
    assert fields.text(OBJECT, *path) == ""
    assert fields.number(OBJECT, *path) is None
    assert fields.part({"a": None}, "a") == {}


def test_lists_hold_what_is_asked_for_only() -> None:
    assert [fields.number(port, "port") for port in fields.each(OBJECT, "spec", "ports")] == [80, 81]
    assert fields.texts(OBJECT, "spec", "hosts") == ["a", "1"]


def test_a_number_is_a_text_and_a_truth_value_no_number() -> None:
    assert fields.text(OBJECT, "spec", "replicas") == "2"
    assert fields.number(OBJECT, "spec", "on") is None
    assert fields.number({"memory": "20Gi"}, "memory") is None


def test_metadata_and_conditions_have_short_ways() -> None:
    assert (fields.key(OBJECT), fields.uid(OBJECT)) == (("models", "web"), "u")
    assert fields.labels(OBJECT) == {"app": "web"}
    assert [fields.label(OBJECT, name) for name in ("app", "none")] == ["web", ""]
    assert [fields.condition_is_true(OBJECT, kind) for kind in ("Ready", "Old", "None")] == [True, False, False]
    assert not fields.being_deleted(OBJECT)
    assert fields.being_deleted({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
