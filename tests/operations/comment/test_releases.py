from __future__ import annotations

import re
from typing import Any

import pytest

from llmd_gke.settings import StackSettings, parse
from operations.comment.changes import Change
from operations.comment.outages import outages
from operations.comment.releases import releases
from operations.timeline.simulate import SERVICE
from tests.operations.comment.test_outages import CONFIG, POOL

VERSIONS = [{"name": "v1"}, {"name": "v2", "image": "vllm/vllm-tpu:v0.26.0"}]


def settings(kind: dict[str, Any] = POOL, **changes: object) -> StackSettings:
    (qwen, _) = CONFIG["llmd-gke:models"]
    pools = [{**kind, "maxNodes": 9, "diskGb": 200}, {**POOL, "name": "v6e-big"}]
    return parse({**CONFIG, "llmd-gke:pools": pools, "llmd-gke:models": [{**qwen, **changes}]}, "one").settings


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"uri": "hf://Qwen/Qwen3-32B"}, "other weights: a new pod is ready before an old one stops"),
        ({"image": "vllm/vllm-tpu:v0.26.0"}, "other image: a new pod is ready before an old one stops"),
        ({"extraArgs": ["--seed=1"]}, "other arguments: a new pod is ready before an old one stops"),
        ({"drainSeconds": 90}, "other settings: a new pod is ready before an old one stops"),
        ({"uri": "hf://Qwen/Qwen3-32B", "image": "vllm/vllm-tpu:v0.26.0"}, "other weights and image: a new pod"),
        ({"pool": "v6e-big"}, "other pool: a new pod is ready before an old one stops on v6e-big"),
    ],
)
def test_a_class_of_change_has_its_order_and_needs_a_spare_host_but_no_time_without_an_answer(
    change: dict[str, Any], says: str
) -> None:
    (line,) = releases(settings(), settings(**change))
    assert says in line
    assert "0 minutes without an answer, 1 spare host of v6e" in line


def test_a_change_that_leaves_the_pods_alone_replaces_none() -> None:
    assert list(releases(settings(), settings(replicas=2))) == []


def test_without_a_spare_host_the_model_has_to_stop() -> None:
    pool = {**POOL, "updatesNeedStop": True}
    (line,) = releases(settings(pool), settings(pool, image="vllm/vllm-tpu:v0.26.0"))
    assert "stop qwen, deploy this, start it" in line
    assert re.search(r"about \d+:\d\d minutes without an answer, 0 spare hosts", line)


def test_a_new_version_says_what_it_costs_and_stops_nothing() -> None:
    first, second = releases(settings(), settings(versions=VERSIONS))
    assert re.search(r"Version v2 of qwen is new: 1 host of v6e for \d+\.\d\d USD an hour, and about \d+:\d\d", first)
    assert second == "qwen divides its requests: v1 100 %, v2 0 %."


def test_a_rollout_says_which_callers_get_what() -> None:
    def at(percent: int, **more: object) -> StackSettings:
        return settings(versions=VERSIONS, rollout={"to": "v2", "percent": percent, **more})

    (line,) = releases(at(0), at(5))
    assert line == (
        "qwen divides its requests: each caller gets both versions: v1 95 % (before 100 %), v2 5 % (before 0 %)."
    )
    assert list(releases(at(5), at(5))) == []


def test_a_version_that_goes_is_the_end_of_the_way_back_and_the_models_name_stays() -> None:
    done, half = (settings(versions=VERSIONS, rollout={"to": "v2", "percent": one}) for one in (100, 50))
    left = settings(versions=VERSIONS[1:])
    assert [*releases(done, left)] == ["Version v1 of qwen is removed: there is no way back to it."]
    (line,) = releases(half, settings())
    assert line == "Version v2 of qwen, which answers 50 % of its requests, is removed: there is no way back to it."
    assert [*outages([Change("delete", "qwen-service", SERVICE)], left, {})] == []
