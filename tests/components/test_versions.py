"""Versions of a model in the graph: a service and a pool for each, and what the model has once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from llmd_gke.catalog import front_door
from llmd_gke.graph.resources import Graph
from tests.components import kinds
from tests.components.conftest import Record
from tests.components.front_door.conftest import KEYS
from tests.components.kinds import of, spec

QWEN = {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4"}
VERSIONS = [{"name": "v1"}, {"name": "v2", "uri": "hf://Qwen/Qwen3-32B", "replicas": 2}]
DOOR = {
    "llmd-gke:gateway": {"exposure": "internal"},
    "llmd-gke:frontDoor": {"callers": [{"name": "team-a", "models": ["qwen"]}, {"name": "batch"}]},
    "llmd-gke:callerKeys": KEYS,
}


def graph(record: Record, more: Mapping[str, object] | None = None, **changes: object) -> Graph:
    return record({"llmd-gke:models": [{**QWEN, **changes}], **(more or {})})


def rollout(percent: int, to: str = "v2", **more: object) -> dict[str, object]:
    return {"to": to, "percent": percent, **more}


def weights(of_graph: Graph) -> dict[str, list[list[tuple[str, int | None]]]]:
    """By route: each distinct list of backends with their weights."""
    result: dict[str, list[list[tuple[str, int | None]]]] = {}
    for node in of(kinds.ROUTE)(of_graph):
        result[node.name] = []
        for rule in cast("list[dict[str, Any]]", spec(node)["rules"]):
            backends = [(one["name"], one.get("weight")) for one in rule.get("backendRefs", [])]
            if backends and backends not in result[node.name]:
                result[node.name].append(backends)
    return result


def test_a_model_that_gets_versions_keeps_everything_that_it_has_and_its_route_has_weights(record: Record) -> None:
    before, after = graph(record), graph(record, versions=VERSIONS, rollout=rollout(5))
    assert {*before.nodes} <= {*after.nodes}
    changed = {node.name for urn, node in before.nodes.items() if node.inputs != after.nodes[urn].inputs}
    assert {name for name in changed if "qwen" in name} <= {"qwen-route", "qwen"}, "weights, and nothing of a pod"
    services = {node.name: node for node in of(kinds.SERVICE)(after)}
    assert {*services} == {"qwen-service", "qwen-v2-service"}
    model = cast("dict[str, Any]", spec(services["qwen-v2-service"])["model"])
    assert model == {"uri": "hf://Qwen/Qwen3-32B", "name": "qwen"}
    made = weights(after)
    assert made["qwen-route"] == [
        [(f"qwen{version}-kserve-workload-svc", part) for version, part in (("", 95), ("-v2", 5))],
        [(f"qwen{version}-inference-pool", part) for version, part in (("", 95), ("-v2", 5))],
    ]
    assert made["qwen-v2-route"] == [[("qwen-v2-kserve-workload-svc", None)], [("qwen-v2-inference-pool", None)]]


def test_the_models_path_outlives_its_first_version(record: Record) -> None:
    before = graph(record, versions=VERSIONS, rollout=rollout(100))
    after = graph(record, versions=[VERSIONS[1], {"name": "v3"}], rollout=rollout(5, "v3"))
    (old,), (new,) = ([urn for urn in one.nodes if urn.endswith("::qwen-route")] for one in (before, after))
    assert old == new
    assert weights(before)["qwen-route"][1] == [("qwen-inference-pool", 0), ("qwen-v2-inference-pool", 100)]
    assert weights(after)["qwen-route"][1] == [("qwen-v2-inference-pool", 95), ("qwen-v3-inference-pool", 5)]


def test_a_step_of_a_rollout_changes_one_route_and_no_listener_and_callers_may_use_every_version(
    record: Record,
) -> None:
    first, second = (graph(record, DOOR, versions=VERSIONS, rollout=rollout(percent)) for percent in (5, 50))
    assert {*first.nodes} == {*second.nodes}
    changed = {node.name for urn, node in first.nodes.items() if node.inputs != second.nodes[urn].inputs}
    assert changed == {"qwen-v2-door"}
    policies = {node.name: spec(node) for node in of(f"kubernetes:{front_door.GATEWAY_VERSION}:SecurityPolicy")(first)}
    allowed = {name: str(policies[name]["authorization"]) for name in ("qwen-callers", "qwen-v2-callers")}
    assert allowed["qwen-callers"] == allowed["qwen-v2-callers"]
    assert "team-a" in allowed["qwen-callers"]


def test_versions_with_the_same_weights_share_their_copy(record: Record) -> None:
    versions = [{"name": "v1"}, {"name": "v2", "extraArgs": ["--seed=1"]}]
    made = graph(record, versions=versions, weightsCache="gs://my-weights/hf")
    assert [node.name for node in of("llmd-gke:models:ModelWeights")(made)] == ["qwen-weights"]
