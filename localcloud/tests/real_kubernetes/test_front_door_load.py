"""The shipped stack's front door under load: parts are killed in turn, and only who depends on them notices.

Skipped where the front door's programs are not built: ``.ci/full front_door`` builds them.
"""

from __future__ import annotations

import base64
import json
import re
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmd_gke.catalog.front_door import AI_NAMESPACE, PRIVATE_HEADERS, PROXIES_NAMESPACE
from llmd_gke.settings.secret_keys import stand_in_key
from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.front_door import base, keyed, kill, metrics_of_picker, proxies, ready, stack_up
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import ask, chat
from localcloud.tests.real_kubernetes.streams import set_times, streams

LOAD, COUNTED, BULK, FIRST = (stand_in_key(name) for name in ("load", "counted", "bulk", "team-a"))
STREAMS = 197
WANTED = ({"model": "qwen", "key": LOAD, "count": STREAMS}, {"model": "small", "key": LOAD, "count": 3})
NAMESPACES = ("models", "others")
PICKER_OF_SMALL = "small-kserve-router-scheduler"
"""How the name of its endpoint picker's pod begins."""
LIMIT = 5
NEW_KEY = "another-key-of-team-a-0123456789abcdef"


def further_callers(config: dict[str, Any]) -> None:
    """Callers for these tests, and a second model that few requests fill."""
    config["llmd-gke:frontDoor"]["callers"] += [
        {"name": "bulk", "priority": -10},
        {"name": "load"},
        {"name": "counted", "requestsPerMinute": LIMIT},
    ]
    config["llmd-gke:models"][1]["maxNumSeqs"] = 4


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    with stack_up(tmp_path_factory.mktemp("door-load"), further_callers) as made:
        yield made


def status(stack: Laptop, key: str, model: str = "qwen") -> int:
    return ask(stack, base(stack), keyed(chat("hello", model=model, max_tokens=1), key))[0]["status"]


def second_key(stack: Laptop, key: str | None) -> None:
    data = {"team-a.next": key and base64.b64encode(key.encode()).decode()}
    patch = json.dumps({"data": data})
    stack.kubectl("patch", "secret", "caller-keys", "-n", "front-door", "--type=merge", "-p", patch)


KILLED = (
    (PROXIES_NAMESPACE, "front-door-redis", 1),
    (PROXIES_NAMESPACE, "envoy-ratelimit", 1),
    (AI_NAMESPACE, "ai-gateway-controller", 2),
    (PROXIES_NAMESPACE, "envoy-gateway", 2),
)
"""Namespace, Deployment and replicas of parts without which requests are served."""


def test_nobody_else_notices_a_new_key_a_limit_or_a_killed_part(stack: Laptop, tmp_path: Path) -> None:
    set_times(stack, "200ms", "1s", *NAMESPACES)
    with streams(stack, tmp_path / "streams.jsonl", base(stack), WANTED) as running:
        running.await_more(STREAMS)
        second_key(stack, NEW_KEY)
        until(lambda: status(stack, NEW_KEY) == 200, "the new key", 30)
        second_key(stack, None)
        until(lambda: status(stack, NEW_KEY) == 401, "the end of the new key", 30)
        request = keyed(chat("hello", model="qwen", max_tokens=1), COUNTED)
        limited = ask(stack, base(stack), *([request] * 2 * LIMIT + [request] * 2))
        assert [answer["status"] for answer in limited[:LIMIT]] == [200] * LIMIT
        rejected = [answer for answer in limited if answer["status"] == 429]
        assert {answer["headers"].get("retry-after") for answer in rejected} == {"60"}
        assert {json.loads(answer["text"])["error"]["code"] for answer in rejected} == {"rate_limit_exceeded"}
        for namespace, deployment, count in KILLED:
            kill(stack, namespace, deployment, count)
            running.await_more(20)
            until(lambda d=deployment, n=namespace: ready(stack, n, d), deployment, 120)
        assert running.broken("qwen") == []

        kill(stack, "others", PICKER_OF_SMALL, 1)
        running.await_more(20)
        assert running.broken("qwen") == []
        until(lambda: status(stack, LOAD, "small") == 200, "the other model without its old picker", 120)

        kill(stack, PROXIES_NAMESPACE, objects.name(proxies(stack)[0]), 1)
        until(lambda: len(proxies(stack)) == 2, "two Envoys", 120)
        running.await_more(STREAMS)
    lost = running.broken("qwen")
    assert len(lost) < STREAMS, "streams of the Envoy that was killed, and of no other"
    assert [one for one in lost if one["status"] != 200] == [], "rejected"


def test_the_priorities_of_callers_reach_the_queue_of_the_picker(stack: Laptop) -> None:
    requests = [keyed(chat("hello", model="small", max_tokens=1), key) for key in (FIRST, BULK, LOAD)]
    forged = keyed(chat("hello", model="small", max_tokens=1), BULK)
    forged["headers"] |= dict.fromkeys(PRIVATE_HEADERS, "team-a")
    assert [answer["status"] for answer in ask(stack, base(stack), *requests, forged)] == [200] * 4
    queued = [line for line in metrics_of_picker(stack) if "flow_control_request_queue_duration_seconds_count" in line]
    seen = {
        tuple(re.findall(r'(?:fairness_id|priority)="([^"]*)"', line))
        for line in queued
        if 'outcome="Dispatched"' in line
    }
    assert {("team-a", "10"), ("bulk", "-10"), ("load", "0")} <= seen
    assert {("bulk", "10"), ("team-a", "-10")} & seen == set(), "headers of a client count for nothing"


def test_bodies_up_to_the_pickers_limit_are_answered(stack: Laptop) -> None:
    """3.5 MB: the laptop's picker takes gRPC messages of 4 MiB. The model answers that the prompt is too long."""
    request = {"path": "/v1/chat/completions", "method": "POST", **chat("x " * 1_750_000, model="qwen")}
    (answer,) = ask(stack, base(stack), keyed(request, LOAD))
    assert answer["status"] == 400, answer
    error = json.loads(answer["text"])["error"]
    assert error["code"] != "invalid_request", "the door's own answer"
    (larger,) = ask(stack, base(stack), {**keyed(request, LOAD), "size": 17_000_000})
    assert larger["status"] == 413, larger


def test_a_thousand_malformed_requests_are_rejected_and_harm_nobody(stack: Laptop) -> None:
    set_times(stack, "0ms", "0ms", *NAMESPACES)
    path = "/v1/chat/completions"
    kinds: list[dict[str, Any]] = [
        {"path": path, "method": "POST", "raw": "{"},
        {"path": path, "method": "POST", "raw": "[]"},
        {"path": path, "method": "POST", "raw": ""},
        {"path": path, "method": "POST", "raw": '{"model": 7}'},
        {"path": path, "method": "POST", "raw": "\x00" * 1000},
        {"path": path, "body": {"messages": []}},
        {"path": path, "body": {"model": "no-such-model", "messages": []}},
        {"path": "/v1/chat/completions/../../metrics", "method": "GET"},
        {"path": "/v1/" + "x" * 8000, "method": "GET"},
        {"path": path, "method": "DELETE"},
    ]
    seen = ask(stack, base(stack), *([keyed(one, LOAD) for one in kinds] * 100), at_once=20)
    assert {one["status"] // 100 for one in seen} == {4}, sorted({one["status"] for one in seen})
    assert status(stack, LOAD) == 200


def test_answers_that_end_at_once_arrive_whole(stack: Laptop) -> None:
    """Envoy up to 1.38 lost one in sixty of them where two external processors read an answer."""
    set_times(stack, "0ms", "0ms", *NAMESPACES)
    request = keyed(chat("hello", model="qwen", max_tokens=4, stream=True), LOAD)
    seen = ask(stack, base(stack), *([request] * 1000), at_once=4)
    assert [one for one in seen if one["status"] != 200 or "[DONE]" not in one["text"]] == []


def test_callers_who_send_their_body_slowly_keep_nobody_waiting(stack: Laptop) -> None:
    set_times(stack, "0ms", "0ms", *NAMESPACES)
    slow = {**keyed(chat("hello " * 200, model="qwen"), LOAD), "slowly": 20}
    quick = keyed(chat("hello", model="qwen"), LOAD)
    seen = ask(stack, base(stack), *([slow] * 100), *([quick] * 20), at_once=120)
    assert {one["status"] for one in seen} == {200}
    assert statistics.median(one["seconds"] for one in seen[100:]) < 10
