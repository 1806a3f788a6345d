"""Where the load balancer and the real endpoint picker send requests: shown with a model served by hand."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from localcloud.tests.real_kubernetes import faults, objects
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import Served, ask, chat, prompt

PROMPT_WORDS = 100
"""A prefix counts from 64 tokens on, the picker's block size."""

LEFT_OUT_SECONDS = 10
"""After so long no request may go to a dead server: its health check fails twice, a second apart."""


@pytest.fixture(scope="module")
def served(bare: Laptop) -> Iterator[Served]:
    # The simulator echoes: the answer is as long as the question, and takes as long as its length says.
    made = Served(bare, "routing", simulator="--inter-token-latency 5ms", arguments=("--max-num-seqs", "2"))
    made.start()
    made.await_answers()
    yield made
    made.remove()


def pods_of(answers: list[Any]) -> Counter[str]:
    assert {answer["status"] for answer in answers} == {200}, answers
    return Counter(answer["pod"] for answer in answers)


def test_a_busy_pod_is_avoided(served: Served) -> None:
    busy = served.ready("server")[0]
    address = f"http://{busy['status']['podIP']}:8000"
    # Past the gateway, so that the picker can only know it from the server's metrics.
    load = [chat(prompt(1000, 2000 + n)) for n in range(16)]
    answers: list[Any] = []
    occupied = threading.Thread(
        target=lambda: answers.extend(ask(served.laptop, address, *load, at_once=16, seconds=500))
    )
    occupied.start()
    try:
        until(lambda: waiting(served, address) >= 2, "a queue at the busy server")
        pods = pods_of(served.ask(*[chat(prompt(PROMPT_WORDS, 3000 + n)) for n in range(8)], at_once=4))
        assert waiting(served, address) >= 1, "the server was idle before the last request, so nothing is shown"
    finally:
        occupied.join()
    assert pods[objects.name(busy)] == 0, pods
    assert len(pods) == 2, pods
    assert {answer["status"] for answer in answers} == {200}


def waiting(served: Served, address: str) -> float:
    """Requests that wait in a server, by its metrics."""
    (answer,) = ask(served.laptop, address, {"path": "/metrics"})
    lines = str(answer["text"]).splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("vllm:num_requests_waiting{"))


def test_requests_that_meet_a_dead_server_are_answered_by_another_pod_and_soon_none_meets_it(served: Served) -> None:
    prefix = prompt(PROMPT_WORDS, 4)
    first = served.ask(*[chat(f"{prefix} {n}") for n in range(3)])
    (victim,) = pods_of(first)
    (pod,) = [one for one in served.ready("server") if objects.name(one) == victim]
    with no_restarts(served.laptop):
        answered_without(served, prefix, victim)
        until(lambda: left_out(served, prefix, pod, 3), "the dead server is left out", LEFT_OUT_SECONDS)
        assert left_out(served, prefix, pod, 20)
    until(lambda: started_again(served, pod), "the server's restart")
    until(lambda: len(served.ready("server")) == 3, "three servers")


def answered_without(served: Served, prefix: str, victim: str) -> None:
    """The pod's server dies among many requests for it."""
    before = len(served.log())
    answers: list[Any] = []
    many = [chat(f"{prefix} {n}") for n in range(60)]
    asking = threading.Thread(target=lambda: answers.extend(served.ask(*many, at_once=3)))
    asking.start()
    until(lambda: len(served.log()) > before + 5, "the first of the requests")
    faults.kill(served.laptop, faults.SERVER, victim)
    asking.join()
    pods = pods_of(answers)
    assert pods[victim] >= 1, pods
    assert sum(pods.values()) - pods[victim] >= 1, f"nobody but the dead server answered: {pods}"
    until(lambda: len(served.log()) >= before + len(many), "the log of the last request")
    retried = [entry for entry in served.log()[before:] if entry["attempts"] > 1]
    assert retried, "no request met the dead server, so nothing is shown"
    assert {entry["status"] for entry in retried} == {200}


@contextmanager
def no_restarts(laptop: Laptop) -> Generator[None]:
    """While the kubelet sleeps, what dies stays dead, and its pod is still called ready."""
    kubelet = laptop.outer("kubelet")
    assert kubelet is not None
    kubelet.suspend()
    try:
        yield
    finally:
        kubelet.resume()


def left_out(served: Served, prefix: str, pod: objects.Object, count: int) -> bool:
    """Whether of so many requests with that prefix none has tried the pod: all have an answer of their first."""
    before = len(served.log())
    pods_of(served.ask(*[chat(f"{prefix} {n}") for n in range(count)]))
    until(lambda: len(served.log()) >= before + count, "the log of the last request")
    tried = {(entry["pod"].rpartition(":")[0], entry["attempts"]) for entry in served.log()[before:]}
    return all(address != pod["status"]["podIP"] and attempts == 1 for address, attempts in tried)


def started_again(served: Served, pod: objects.Object) -> bool:
    """Whether the pod's server was started once more and takes requests."""
    (then,) = pod["status"]["containerStatuses"]
    now = [one for one in served.ready("server") if objects.name(one) == objects.name(pod)]
    return any(one["status"]["containerStatuses"][0]["restartCount"] > then["restartCount"] for one in now)


def test_a_pod_that_is_deleted_loses_no_request(served: Served) -> None:
    (victim, *_) = served.ready("server")
    before = len(served.log())
    answers: list[Any] = []
    many = [chat(prompt(PROMPT_WORDS, 5000 + n)) for n in range(40)]
    asking = threading.Thread(target=lambda: answers.extend(served.ask(*many, at_once=3)))
    asking.start()
    until(lambda: len(served.log()) > before + 5, "the first of the requests")
    served.laptop.kubectl("delete", "pod", objects.name(victim), "-n", served.namespace, "--wait=false")
    asking.join()
    pods = pods_of(answers)
    assert len(pods) >= 2, pods
    until(lambda: len(served.ready("server")) == 3, "the successor")
