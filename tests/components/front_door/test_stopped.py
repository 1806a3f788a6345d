"""Models that are stopped, behind the front door: who gets which answer, and that other stacks have nothing of it."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from llmd_gke.catalog import front_door
from llmd_gke.graph.recording import Graph, ResourceNode
from llmd_gke.manifests.front_door import listing, stopped
from tests.components import kinds
from tests.components.conftest import Record
from tests.components.front_door.conftest import KEYS
from tests.components.front_door.support import ROUTE, TRAFFIC, the
from tests.components.kinds import of, spec

EXTENSION = f"kubernetes:{front_door.GATEWAY_VERSION}:EnvoyExtensionPolicy"
FILTER = f"kubernetes:{front_door.GATEWAY_VERSION}:HTTPRouteFilter"


def stack(record: Record, *running: bool) -> Graph:
    """Two models behind a door: one for every caller, one for team-a alone."""
    models = [
        {"name": name, "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e4", "stopped": not runs}
        for name, runs in zip(("open", "closed"), running, strict=True)
    ]
    callers = [{"name": "team-a"}, {"name": "batch", "models": ["open"]}]
    return record(
        {
            "llmd-gke:gateway": {"exposure": "internal"},
            "llmd-gke:frontDoor": {"callers": callers},
            "llmd-gke:callerKeys": KEYS,
            "llmd-gke:models": models,
        }
    )


def overrides(graph: Graph) -> dict[int, dict[str, Any]]:
    """The door's errors, by the status that they replace."""
    listed = cast("list[dict[str, Any]]", spec(the(graph, TRAFFIC, "limits"))["responseOverride"])
    return {int(one["match"]["statusCodes"][0]["value"]): one["response"] for one in listed}


def script(graph: Graph) -> str:
    return str(spec(the(graph, EXTENSION, "callers"))["lua"])


def rules(graph: Graph) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", spec(the(graph, kinds.ROUTE, listing.NAME))["rules"])


def test_a_stack_whose_models_all_run_has_nothing_of_it(record: Record) -> None:
    graph = stack(record, True, True)
    assert stopped.STATUS not in overrides(graph)
    assert "stopped" not in script(graph)
    assert [one.name for one in of(FILTER)(graph)] == ["front-door-models-refusal"]
    assert len(rules(graph)) == 1


def test_beside_a_running_model_the_answer_is_a_503_that_says_when_to_ask_again_and_no_route_takes_paths(
    record: Record,
) -> None:
    graph = stack(record, True, False)
    response = overrides(graph)[stopped.STATUS]
    assert response["statusCode"] == 503
    assert response["header"] == {"set": [{"name": "Retry-After", "value": "600"}]}
    assert json.loads(response["body"]["inline"])["error"]["code"] == "model_stopped"
    assert [rule["matches"][0]["path"]["value"] for rule in rules(graph)] == ["/v1/models"]
    assert [one.name for one in of(FILTER)(graph)] == ["front-door-models-refusal"]


@pytest.mark.parametrize(
    ("running", "table"),
    [
        ((True, False), {"closed": ["team-a"]}),
        ((False, False), {"open": ["team-a", "batch"], "closed": ["team-a"]}),
    ],
)
def test_the_script_knows_both_names_of_a_stopped_model_and_its_callers(
    record: Record, running: tuple[bool, bool], table: dict[str, list[str]]
) -> None:
    graph = stack(record, *running)
    for model, callers in table.items():
        allowed = ", ".join(f'["{caller}"] = true' for caller in callers)
        for name in (model, f"publishers/models/models/{model}"):
            assert f'["{name}"] = {{{allowed}}}' in script(graph)
    running_names = {"open", "closed"} - set(table)
    assert not [name for name in running_names if f'["{name}"] = {{' in script(graph)]


def test_when_all_models_are_stopped_every_path_has_the_answer(record: Record) -> None:
    """Nothing reads a body then: AI Gateway works on its own routes only."""
    graph = stack(record, False, False)
    assert of(ROUTE)(graph) == []
    last = rules(graph)[-1]
    assert last["matches"] == [{"path": {"type": "PathPrefix", "value": "/v1"}}]
    (reference,) = last["filters"]
    answer = the(graph, FILTER, reference["extensionRef"]["name"])
    assert spec(answer)["directResponse"] == {"statusCode": float(stopped.STATUS)}
    assert graph.comes_before(answer, the(graph, kinds.ROUTE, listing.NAME))


def test_the_route_and_the_script_change_before_any_model_does(record: Record) -> None:
    """A model that starts would be hidden until the end of the update otherwise."""
    graph = stack(record, True, True)
    changed: list[ResourceNode] = [the(graph, EXTENSION, "callers"), the(graph, kinds.ROUTE, listing.NAME)]
    for model in of(ROUTE)(graph):
        assert [one.name for one in changed if not graph.comes_before(one, model)] == []
