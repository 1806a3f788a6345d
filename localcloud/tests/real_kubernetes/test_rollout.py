"""Two versions of a model behind the front door: the share of each, the streams over every step and the way back, and
what callers of one see when the other loses its picker or its servers.

Skipped where the front door's programs are not built: ``.ci/full rollout`` builds them.
"""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.settings.secret_keys import stand_in_key
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.commands import called
from localcloud.tests.real_kubernetes.front_door import STACK, answers, base, keyed, kill, stack_up
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import ask, chat
from localcloud.tests.real_kubernetes.streams import Streams, set_times, streams

LOAD, OTHER = stand_in_key("load"), stand_in_key("other")
ANSWERS, STREAMS, FEW = 2000, 200, 50
SHORT = {"max_tokens": 4}
CALLERS = ("load", "team-a", "team-b", "batch")


def two_versions(config: dict[str, Any]) -> None:
    """One model in two versions, for callers that may use it and one that may not."""
    qwen, small = config["llmd-gke:models"]
    qwen |= {"replicas": 1, "versions": [{"name": "v1"}, {"name": "v2", "extraArgs": ["--seed=1"]}]}
    callers = [*({"name": name} for name in CALLERS), {"name": "other", "models": [small["name"]]}]
    config["llmd-gke:frontDoor"] = {"callers": callers}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    with stack_up(tmp_path_factory.mktemp("rollout"), two_versions) as made:
        yield made


def step(stack: Laptop, percent: int, **more: bool) -> None:
    def change(config: dict[str, Any]) -> None:
        config["llmd-gke:models"][0]["rollout"] = {"to": "v2", "percent": percent, "stable": "v1", **more}

    stack.edit(STACK, change)
    stack.up(STACK)


def versions(stack: Laptop, count: int) -> Counter[str]:
    """The versions that answered, by their names in the answers."""
    seen = ask(stack, base(stack), *([request(LOAD)] * count), at_once=8, seconds=600)
    assert {one["status"] for one in seen} == {200}
    return Counter(version(one) for one in seen)


def request(key: str) -> dict[str, Any]:
    return keyed(chat("hello", model="qwen", max_tokens=1), key)


def version(answer: dict[str, Any]) -> str:
    return str(json.loads(answer["text"])["model"])


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
    set_times(stack, "100ms", "3s", "models")
    asked = [{"model": "qwen", "key": LOAD, "count": STREAMS, "more": SHORT}]
    with streams(stack, tmp_path / "streams.jsonl", base(stack), asked) as open_:
        open_.await_more(STREAMS)
        for percent in (5, 50, 100, 0):
            step(stack, percent)
            # Each proxy learns of the step at its own time.
            until(lambda p=percent: off(versions(stack, FEW), p) <= 5, f"{percent} %", 120)
            assert off(answered(open_, ANSWERS if percent else STREAMS), percent) <= 4
    assert open_.broken() == []
    assert pods(stack) == before, "nothing restarted"


def answered(open_: Streams, count: int) -> Counter[str]:
    """The versions that answer the next so many streams. Those that begin meanwhile are awaited, too: the quicker
    version would have more of those that have ended.
    """
    since = time.time()

    def begun() -> list[dict[str, Any]]:
        return sorted((one for one in open_.ended() if one["at"] > since), key=lambda one: one["at"])

    until(lambda: len(begun()) >= count + STREAMS, f"{count} streams", 1200)
    return Counter(one["by"] for one in begun()[:count])


def off(seen: Counter[str], percent: int) -> float:
    """How far the new version's part of answers is from its share, in standard deviations."""
    share, count = percent / 100, seen.total()
    deviation = math.sqrt(count * share * (1 - share))
    apart = abs(seen["qwen-v2"] - share * count)
    return apart / deviation if deviation else apart * math.inf if apart else 0


@pytest.mark.parametrize(
    ("of", "deployment"),
    [
        pytest.param("qwen-v2", "qwen-v2-kserve-router-scheduler", id="picker of the new version"),
        pytest.param("qwen", "qwen-kserve-router-scheduler", id="picker of the stable version"),
        pytest.param("qwen-v2", "qwen-v2-kserve", id="the only server of the new version"),
    ],
)
def test_callers_of_one_version_do_not_notice_what_happens_to_the_other(
    stack: Laptop, tmp_path: Path, of: str, deployment: str
) -> None:
    step(stack, 50, sticky=True)
    keys = [stand_in_key(name) for name in CALLERS]

    def divided() -> bool:
        twice = ask(stack, base(stack), *(request(key) for key in keys * 10))
        return all(len({version(one) for one in twice[at :: len(keys)]}) == 1 for at in range(len(keys)))

    until(divided, "a version for each caller", 60)
    by_version = {version(ask(stack, base(stack), request(key))[0]): key for key in keys}
    (other,) = by_version.keys() - {of}
    seen: list[dict[str, Any]] = []

    def answered(expected: int) -> bool:
        seen.extend(ask(stack, base(stack), request(by_version[of])))
        return seen[-1]["status"] == expected

    set_times(stack, "100ms", "3s", "models")
    asked = [{"model": "qwen", "key": by_version[other], "count": STREAMS, "more": SHORT}]
    with streams(stack, tmp_path / "streams.jsonl", base(stack), asked) as open_:
        open_.await_more(STREAMS)
        (pod,) = objects.pods_of(stack, deployment)
        kill(stack, "models", objects.name(pod), 1)
        until(lambda: answered(503), "an answer that says what is lost", 60)
        until(lambda: answered(200), "a version that is whole again", 120)
        open_.await_more(STREAMS)
    assert open_.broken() == []
    lost = [one for one in seen if one["status"] != 200]
    assert {(one["status"], one["headers"].get("retry-after")) for one in lost} == {(503, "10")}, lost
    assert {json.loads(one["text"])["error"]["code"] for one in lost} == {"service_unavailable"}
