"""How callers' priorities reach the picker of the laptop cloud, which reads the older kind of InferenceObjective."""

from __future__ import annotations

from typing import Any

from localcloud.nodes.objectives import changes, copy


def objective(name: str, priority: int = 10, group: str = "llm-d.ai") -> dict[str, Any]:
    pool = {"group": "inference.networking.k8s.io", "name": "pool"}
    return {
        "apiVersion": f"{group}/v1alpha2",
        "kind": "InferenceObjective",
        "metadata": {"name": name, "namespace": "models", "uid": name, "resourceVersion": "1"},
        "spec": {"priority": priority, "poolRef": pool},
    }


def test_a_changed_priority_is_copied_and_a_deleted_objective_takes_its_copy_along() -> None:
    present = [copy(objective("team-a")), copy(objective("batch", -10))]
    write, delete = changes([objective("team-a", 20)], present)
    assert [one["spec"]["priority"] for one in write] == [20]
    assert delete == [("models", "batch")]


def test_an_objective_of_a_user_in_the_older_group_is_left_alone() -> None:
    own = objective("team-a", 5, group="inference.networking.x-k8s.io")
    assert changes([objective("team-a")], [own]) == ([], [])
    assert changes([], [own]) == ([], [])
