"""vLLM itself under load, while parts of the stack die, change, and follow the load.

Skipped where its environment is not installed: ``.ci/full real_load`` installs it. The tests follow each other: the
last ones change the stack.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from llmd_gke.catalog import kserve, metrics
from llmd_gke.catalog.front_door import PROXIES_NAMESPACE
from llmd_gke.catalog.scaling import SHORTEST_IDLE_SECONDS
from localcloud.cluster import autoscaling as keda
from localcloud.monitoring import options
from localcloud.tests.real_kubernetes import autoscaling, models, objects
from localcloud.tests.real_kubernetes.front_door import keyed, proxies
from localcloud.tests.real_kubernetes.harness import until
from localcloud.tests.real_kubernetes.prometheus import FASTER
from localcloud.tests.real_kubernetes.real_server import (
    ADAPTER,
    BLOCK,
    DOOR,
    KEY,
    MODEL,
    PATH,
    STACK,
    Server,
    server_up,
)
from localcloud.tests.real_kubernetes.serving import ask, chat, logged, prompt
from localcloud.tests.real_kubernetes.steady_load import steady
from localcloud.tests.real_kubernetes.streams import Streams, streams

MINUTES = float(os.environ.get("LLMD_GKE_LOAD_MINUTES", "20"))
"""Of load, for the memory of the parts."""
LEAVING = "miner"
"""The adapter that is removed while the other one serves."""
LONG, SHORT = {"max_tokens": 1500}, {"max_tokens": 100}
STREAMS = 12
"""Fewer than both servers run at once (``maxNumSeqs``), so that none waits for its first token."""
IDLE = Path(__file__).with_name("idle_client.py")


def with_another_adapter(config: dict[str, Any]) -> None:
    model = models.first(config)
    model["adapters"].append({**model["adapters"][0], "name": LEAVING})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("real-load")
    variables = {options.VARIABLE: str(FASTER), "LLMD_GKE_SCALE_DOWN_SECONDS": "15"}
    with server_up(folder, with_another_adapter, *keda.PROGRAMS, **variables) as made:
        yield made


def wanted(count: int, more: Mapping[str, Any], model: str = MODEL) -> list[dict[str, Any]]:
    return [{"model": model, "key": KEY, "count": count, "more": {"ignore_eos": True, **more}}]


def await_running(server: Server, count: int) -> float:
    """Waits until the servers compute so many streams, or hold them back, but for two that begin again meanwhile; the
    time since 1970.
    """
    gauges = (metrics.Server.RUNNING, metrics.Server.WAITING)
    until(lambda: sum(sum(server.sums(one).values()) for one in gauges) >= count - 2, f"{count} streams")
    return time.time()


def begun_before(load: Streams, moment: float, count: int) -> list[dict[str, Any]]:
    """Waits for the end of all streams that ran then."""

    def ended() -> list[dict[str, Any]]:
        return [one for one in load.ended() if one["at"] < moment < one["at"] + one["seconds"]]

    until(lambda: len(ended()) >= count, f"the end of {count} streams", 400)
    return ended()


def kill(server: Server, namespace: str, pod: objects.Object) -> None:
    server.laptop.kubectl(
        "delete", "pod", objects.name(pod), "-n", namespace, "--grace-period=0", "--force", "--wait=false"
    )


def test_a_picker_that_is_killed_ends_its_models_streams_at_once_and_the_next_ones_are_answered(
    server: Server, tmp_path: Path
) -> None:
    """Envoy has each answer read by the picker, also at the model's own path (docs/front-door.md#limits)."""
    laptop, half = server.laptop, STREAMS // 2
    chosen = f"app.kubernetes.io/component={kserve.PICKER}"
    with (
        streams(laptop, tmp_path / "door", server.root(DOOR), wanted(half, LONG)) as door,
        streams(laptop, tmp_path / "path", server.root(PATH), wanted(half, LONG)) as path,
    ):
        moment = await_running(server, STREAMS)
        for picker in objects.every(laptop, "pods", "-l", chosen, namespace=objects.MODELS):
            kill(server, objects.MODELS, picker)
        lost = [*begun_before(door, moment, half), *begun_before(path, moment, half)]
        for load in (door, path):
            until(lambda one=load: len(one.broken()) < len(one.ended()), "a whole stream with another picker", 400)
    cut = [one for one in lost if not one["whole"]]
    assert cut
    assert [one for one in cut if one["status"] == 200 and "closed" not in one["error"]] == []


def test_an_envoy_that_dies_takes_only_its_own_streams_with_it(server: Server, tmp_path: Path) -> None:
    laptop = server.laptop
    with streams(laptop, tmp_path / "streams", server.root(DOOR), wanted(STREAMS, LONG)) as running:
        moment = await_running(server, STREAMS)
        victim = proxies(laptop)[0]
        (stats,) = ask(laptop, f"http://{victim['status']['podIP']}:19001", {"path": "/stats/prometheus"})
        active = [line for line in stats["text"].splitlines() if line.startswith("envoy_http_downstream_rq_active{")]
        own = round(sum(float(line.rpartition(" ")[2]) for line in active if "http-" in line))
        kill(server, PROXIES_NAMESPACE, victim)
        ended = begun_before(running, moment, STREAMS)
        until(lambda: len(proxies(laptop)) == 2, "two Envoys", 120)
    lost = [one for one in ended if not one["whole"]]
    assert 0 < len(lost) <= own, (active, lost)
    assert [one for one in lost if "closed" not in one["error"]] == [], "their clients hear of it at once"


PARTS = {
    "servers": ("/opt/vllm/bin/python", "VLLM::"),
    "picker": ("/opt/bin/endpoint-picker",),
    "Envoys": ("envoy --service-cluster",),
    "AI Gateway": ("/app -configPath",),
}
"""How the command lines of their processes begin."""


def memory(server: Server) -> dict[str, float]:
    """Megabytes of the processes of each part."""
    namespaces = server.laptop.namespaces()
    assert namespaces is not None
    found = dict.fromkeys(PARTS, 0.0)
    for process in namespaces.init.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            words, size = " ".join(process.cmdline()), process.memory_info().rss / 1e6
            for part in [part for part, begin in PARTS.items() if words.startswith(begin)]:
                found[part] += size
    assert all(found.values()), found
    return found


def test_minutes_of_load_need_no_more_memory_and_idle_connections_stay(server: Server, tmp_path: Path) -> None:
    """The pod is asked as the load balancer asks it, which is a network away and keeps its connections."""
    laptop, began = server.laptop, time.monotonic()
    pod = models.servers(laptop)[0]["status"]["podIP"]
    targets = [{"url": one.base, "key": one.key} for one in server.entrances.values()]
    targets.append({"url": f"http://{pod}:8000/v1", "key": ""})
    dice = random.Random(39)
    connections = [[dice.uniform(0, 10) for _ in range(6)] for _ in range(100)] + [[min(300, 20 * MINUTES)]] * 5

    def after(share: float) -> dict[str, float]:
        until(lambda: time.monotonic() > began + share * MINUTES * 60, "the next look", MINUTES * 60 + 60)
        return memory(server)

    with (
        streams(laptop, tmp_path / "streams", server.root(DOOR), wanted(12, SHORT)) as many,
        steady(laptop, tmp_path / "steady", server.root(PATH), MODEL) as single,
    ):
        question = {"targets": targets, "model": MODEL, "idle": connections}
        done = laptop.inside(sys.executable, "-P", str(IDLE), stdin=json.dumps(question), timeout=600)
        for seen in json.loads(done.stdout):
            assert seen == {"answers": 100 * 7 + 5 * 2, "lost": [], "connections": len(connections)}
        early, late = after(1 / 3), after(1)
    assert many.broken() == []
    assert [one for one in single.answers() if one["status"] != 200] == []
    print(f"MB {early}, then {late}; {len(many.ended())} streams, {len(single.answers())} answers")
    assert {part: size for part, size in late.items() if size > early[part] * 1.05 + 10} == {}, early


def changed(server: Server, change: Callable[[dict[str, Any]], None]) -> None:
    server.laptop.edit(STACK, lambda config: change(models.first(config)))
    server.laptop.up(STACK)


def test_an_adapter_serves_without_a_loss_while_the_other_one_is_removed(server: Server, tmp_path: Path) -> None:
    laptop, door = server.laptop, server.entrances[DOOR]
    leaving = keyed(chat("hello", model=LEAVING, path="chat/completions"), KEY)
    assert ask(laptop, door.base, leaving)[0]["status"] == 200
    with streams(laptop, tmp_path / "streams", server.root(DOOR), wanted(12, SHORT, ADAPTER)) as running:
        running.await_more(12, ADAPTER)
        changed(server, lambda model: model["adapters"].pop())
        running.await_more(12, ADAPTER)
    assert running.broken() == []
    assert ask(laptop, door.base, leaving)[0]["status"] == 404


def asked_twice(server: Server, seed: int) -> tuple[list[int], set[str]]:
    """The cached tokens of the second of two prompts with one beginning, for 12 such pairs, as a client and the servers
    count them; and the addresses of the servers that got one.
    """
    laptop, path = server.laptop, server.entrances[PATH]
    begins = [prompt(100, seed + topic) for topic in range(12)]
    requests = [chat(f"{begin} {end}", model=MODEL, path="chat/completions") for end in "ab" for begin in begins]

    def pods() -> list[str]:
        chats = [one for one in logged(laptop, "") if str(one["path"]).endswith("/v1/chat/completions")]
        return [str(one["pod"]).rpartition(":")[0] for one in chats if f"_{objects.MODELS}_" in str(one["backend"])]

    before, so_far = server.sums(metrics.Server.PREFIX_HITS), len(pods())
    answers = [json.loads(one["text"]) for one in ask(laptop, path.base, *requests)]
    cached = [one["usage"]["prompt_tokens_details"]["cached_tokens"] for one in answers]
    until(lambda: len(pods()) >= so_far + len(requests), "the gateway's log")
    chosen = pods()[so_far:]
    after = server.sums(metrics.Server.PREFIX_HITS)
    for address in after:
        hits = sum(tokens for tokens, pod in zip(cached, chosen, strict=True) if pod == address)
        assert after[address] - before[address] == hits
    return cached[12:], {*chosen}


def test_prompts_hit_the_cache_of_the_server_that_the_picker_chooses_by_their_beginning(server: Server) -> None:
    cached, pods = asked_twice(server, 1000)
    assert min(cached) >= BLOCK
    assert pods == {pod["status"]["podIP"] for pod in models.servers(server.laptop)}
    changed(server, lambda model: model.update(scheduler={"profile": "load"}))
    cached, _ = asked_twice(server, 2000)
    assert min(cached) < BLOCK, "by chance all of them hit once in 4,096 runs"


def test_a_rollout_and_its_way_back_lose_no_stream_and_its_end_cuts_none_off(server: Server, tmp_path: Path) -> None:
    def two_versions(model: dict[str, Any]) -> None:
        model.update(replicas=1, versions=[{"name": "v1"}, {"name": "v2", "extraArgs": ["--seed=1"]}])

    def without_versions(model: dict[str, Any]) -> None:
        del model["versions"], model["rollout"]

    changed(server, two_versions)
    new = f"{MODEL}-v2"
    with streams(server.laptop, tmp_path / "streams", server.root(DOOR), wanted(12, SHORT)) as running:
        for percent, names in ((50, {MODEL, new}), (100, {new}), (0, {MODEL})):
            rollout = {"to": "v2", "percent": percent, "stable": "v1"}
            changed(server, lambda model, now=rollout: model.update(rollout=now))
            until(lambda now=names: {one["by"] for one in running.await_more(24)} == now, f"{percent} %", 300)
        assert running.broken() == []
        changed(server, without_versions)
        running.await_more(48)
    # Why some are refused: docs/front-door.md#limits-of-the-front-door.
    assert {one["status"] for one in running.broken()} <= {503}


def test_replicas_follow_the_queue_of_real_servers_up_and_down(server: Server, tmp_path: Path) -> None:
    laptop = server.laptop

    def by_load(model: dict[str, Any]) -> None:
        del model["replicas"]
        pace = {"waitingPerReplica": 2, "scaleUpEverySeconds": 15, "scaleDownAfterSeconds": 60}
        model.update(minReplicas=1, maxReplicas=2, scaling=pace)

    changed(server, by_load)
    with autoscaling.back_to_one(laptop):
        with autoscaling.back_to_one(laptop):
            pass
        with streams(laptop, tmp_path / "streams", server.root(DOOR), wanted(40, SHORT)) as load:
            autoscaling.await_replicas(laptop, 2)
    assert load.broken() == []


def test_an_idle_server_goes_and_a_request_starts_it(server: Server) -> None:
    laptop, door = server.laptop, server.entrances[DOOR]
    changed(server, lambda model: model["scaling"].update(idleAfterSeconds=SHORTEST_IDLE_SECONDS))

    def status() -> int:
        request = keyed(chat("hello", model=MODEL, path="chat/completions"), KEY)
        return ask(laptop, door.base, request, seconds=120)[0]["status"]

    with autoscaling.patched(laptop, **autoscaling.shorter_idle_time(laptop)):
        until(lambda: not models.servers(laptop), "no server after the idle time", autoscaling.SCALE_SECONDS)
        assert status() == 503
        until(lambda: status() == 200, "an answer of the started server", autoscaling.SCALE_SECONDS)
