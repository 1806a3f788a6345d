from __future__ import annotations

from typing import Any

import pytest

from llmd_gke.settings import parse
from operations.comment.changes import Change, Op
from operations.comment.outages import ADDRESS, CLUSTER, GATEWAY, RELEASE, outages, platform
from operations.timeline.simulate import NODE_POOL, SERVICE

POOL = {"name": "v6e", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 4}
CONFIG: dict[str, Any] = {
    "gcp:project": "my-project",
    "llmd-gke:cluster": {"name": "llmd-one", "zone": "us-east5-b"},
    "llmd-gke:pools": [POOL, {**POOL, "name": "v6e-big"}],
    "llmd-gke:models": [
        {"name": "qwen", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e"},
        {"name": "large", "uri": "hf://Qwen/Qwen3-4B", "pool": "v6e-big"},
    ],
}
IN_ORDER = {**POOL, "capacity": [{"kind": "on-demand"}, {"kind": "spot"}]}


def said(*changes: tuple[Op, str, str], pool: dict[str, Any] = POOL) -> list[str]:
    settings = parse({**CONFIG, "llmd-gke:pools": [pool, {**POOL, "name": "v6e-big"}]}, "one").settings
    what = [Change(op, name, type_) for op, type_, name in changes]
    return list(outages(what, settings, {"large": 1800, "qwen": 1731}))


def test_what_is_updated_in_place_or_new_stops_nothing() -> None:
    assert said(("update", NODE_POOL, "v6e-nodes"), ("create", SERVICE, "new-service"), ("update", CLUSTER, "c")) == []


def test_a_replaced_cluster_stops_every_model_as_long_as_a_first_update_takes() -> None:
    (line,) = said(("replace", CLUSTER, "cluster-control-plane"), ("replace", NODE_POOL, "v6e-nodes"))
    assert "no model answers" in line
    assert "large 30:00, qwen 28:51 minutes" in line


def test_a_replaced_pool_stops_its_own_models() -> None:
    (line,) = said(("replace", NODE_POOL, "v6e-nodes"))
    assert "qwen stops answering for about 1" in line
    (line,) = said(("replace", NODE_POOL, "v6e-big-nodes"))
    assert "large stops answering" in line


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            [("replace", NODE_POOL, "v6e-spot-nodes")],
            "Node pool v6e-spot is replaced or removed: the replicas there stop",
        ),
        (
            [
                ("delete", NODE_POOL, "v6e-nodes"),
                ("create", NODE_POOL, "v6e-on-demand-nodes"),
                ("create", NODE_POOL, "v6e-spot-nodes"),
            ],
            "Node pool v6e is replaced or removed: qwen stops answering",
        ),
    ],
)
def test_of_a_list_of_capacities_only_what_stays_goes_on(changes: list[tuple[Op, str, str]], words: str) -> None:
    (line,) = said(*changes, pool=IN_ORDER)
    assert line.startswith(words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("delete", SERVICE, "old-service"), "Model old is removed: its path and its name answer 404."),
        (("replace", SERVICE, "qwen-service"), "Model qwen is replaced: it stops answering for about"),
        (("replace", GATEWAY, "edge-gateway"), "about 4:00 minutes"),
        (("replace", NODE_POOL, "cluster-system"), "endpoint pickers, front door and controllers stop"),
        (("replace", *ADDRESS), "another address"),
    ],
)
def test_what_all_models_need_is_named(change: tuple[Op, str, str], words: str) -> None:
    (line,) = said(change)
    assert words in line


def test_an_updated_chart_says_what_restarts_and_what_its_version_breaks() -> None:
    names = ("front-door-ai-gateway-helm", "platform-lws", "front-door-gateway-helm", "platform-kserve-runtime-configs")
    changes = [Change("update", name, RELEASE, (("version", "0.7.0 → 0.9.0"),)) for name in names]
    lines = [*platform([*changes, Change("create", "autoscaler-keda", RELEASE)])]
    assert [line.partition(" is updated")[0] for line in lines] == [
        "LeaderWorkerSet", "KServe", "Envoy Gateway", "Envoy AI Gateway"
    ]  # fmt: skip
    assert all("0 minutes without an answer, 0 spare hosts." in line for line in lines)
    assert ["kubernetes-sigs/lws#880" in line for line in lines] == [True, False, False, False]
    (seen,) = platform([Change("update", "platform-lws", RELEASE, (("version", "0.8.0 → 0.9.0"),))])
    assert "Walked: 0.8.0 to 0.9.0" in seen
