"""Two versions of a model behind the front door: the share of each, and the streams over every step and the way back.

Skipped where the front door's programs are not built: ``.ci/full rollout`` builds them.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.settings.secret_keys import stand_in_key
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.commands import called
from localcloud.tests.real_kubernetes.front_door import STACK, answers, base, keyed, stack_up
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import ask, chat
from localcloud.tests.real_kubernetes.streams import set_times, streams

LOAD, OTHER = stand_in_key("load"), stand_in_key("other")
FEW, STREAMS = 100, 100


def two_versions(config: dict[str, Any]) -> None:
    """One model in two versions, for a caller that may use it and one that may not."""
    qwen, small = config["llmd-gke:models"]
    qwen |= {"replicas": 1, "versions": [{"name": "v1"}, {"name": "v2", "extraArgs": ["--seed=1"]}]}
    callers = [{"name": "load"}, {"name": "other", "models": [small["name"]]}]
    config["llmd-gke:frontDoor"] = {"callers": callers}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    with stack_up(tmp_path_factory.mktemp("rollout"), two_versions) as made:
        yield made


def step(stack: Laptop, percent: int) -> None:
    def change(config: dict[str, Any]) -> None:
        config["llmd-gke:models"][0]["rollout"] = {"to": "v2", "percent": percent, "stable": "v1"}

    stack.edit(STACK, change)
    stack.up(STACK)


def versions(stack: Laptop, count: int) -> Counter[str]:
    """The versions that answered, by their names in the answers."""
    request = keyed(chat("hello", model="qwen", max_tokens=1), LOAD)
    seen = ask(stack, base(stack), *([request] * count), at_once=8, seconds=600)
    assert {one["status"] for one in seen} == {200}
    return Counter(str(json.loads(one["text"])["model"]) for one in seen)


def pods(stack: Laptop) -> set[str]:
    every = objects.every(stack, "pods", namespace="models")
    return {str(pod["metadata"]["uid"]) for pod in every}


def test_a_version_is_checked_by_its_own_name_before_it_gets_requests(stack: Laptop, tmp_path: Path) -> None:
    done = called(stack, tmp_path, "smoke", "--model", "qwen-v2", "--timeout", "90", stack=STACK)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {*versions(stack, 50)} == {"qwen"}
    asked = [(chat("hello", model=name, max_tokens=1), OTHER) for name in ("qwen", "qwen-v2")]
    assert [answer["status"] for answer in answers(stack, *asked)] == [403, 403]
    (listed,) = answers(stack, ({"path": "/v1/models"}, LOAD))
    ids = [one["id"] for one in json.loads(listed["text"])["data"]]
    assert ids.count("qwen") == ids.count("qwen-v2") == 1


def test_each_version_gets_its_share_and_no_stream_is_lost_at_a_step_or_on_the_way_back(
    stack: Laptop, tmp_path: Path
) -> None:
    before = pods(stack)
    set_times(stack, "100ms", "500ms", "models")
    asked = [{"model": "qwen", "key": LOAD, "count": STREAMS}]
    with streams(stack, tmp_path / "streams.jsonl", base(stack), asked) as open_:
        open_.await_more(STREAMS)
        for percent in (5, 50, 100, 0):
            step(stack, percent)
            share = percent / 100
            bound = 5 * math.sqrt(FEW * share * (1 - share))
            # Each proxy learns of the step at its own time.
            until(lambda s=share, b=bound: abs(versions(stack, FEW)["qwen-v2"] - s * FEW) <= b, f"{percent} %", 60)
            open_.await_more(STREAMS)
    assert open_.broken() == []
    assert pods(stack) == before, "nothing restarted"
