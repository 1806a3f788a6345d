"""Where requests to the program's own LLMInferenceService go: by KServe's picker with the program's configuration.

``test_routing.py`` shows the rest with a model that is served by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from llmd_gke.catalog import kserve
from localcloud.tests.real_kubernetes import models, objects, serving
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import ask, chat, prompt

POOL = f"qwen{kserve.POOL_SUFFIX}"
PROMPT_WORDS = 200
"""Three of the picker's blocks, which are 64 tokens long."""


@pytest.fixture(scope="module")
def two_replicas(laptop: Laptop) -> Iterator[Laptop]:
    """The stack's model with two servers."""
    with models.changed(laptop):
        laptop.edit("local", lambda config: models.first(config).update(replicas=2))
        laptop.up()
        models.ready_servers(laptop, 2)
        yield laptop


def asked(laptop: Laptop, *texts: str, at_once: int = 1) -> list[str]:
    """The pod to which each of these chats went, by the gateway's log; in their order, if asked one after the other."""
    url, name = models.endpoint(laptop)
    before = len(logged(laptop))
    answers = ask(laptop, url, *[chat(text, model=name) for text in texts], at_once=at_once)
    assert {answer["status"] for answer in answers} == {200}, answers
    until(lambda: len(logged(laptop)) >= before + len(texts), "the log of the last request")
    names = {server["status"]["podIP"]: objects.name(server) for server in models.servers(laptop)}
    return [names[address] for address in logged(laptop)[before:]]


def logged(laptop: Laptop) -> list[str]:
    """The address of the pod that got each chat of the model, from the load balancer's log."""
    chats = [entry for entry in serving.logged(laptop, "") if str(entry["path"]).endswith("/v1/chat/completions")]
    ours = [entry for entry in chats if str(entry["backend"]).endswith(f"_{objects.MODELS}_{POOL}")]
    return [str(entry["pod"]).rpartition(":")[0] for entry in ours]


def test_prompts_with_one_long_prefix_go_to_one_server_whichever_that_is(two_replicas: Laptop) -> None:
    topics, each = 12, 4
    prefixes = [prompt(PROMPT_WORDS, 70_000 + topic) for topic in range(topics)]
    ends = [prompt(5, 71_000 + n) for n in range(topics * each)]
    pods = asked(two_replicas, *[f"{prefixes[n % topics]} {end}" for n, end in enumerate(ends)])
    by_topic = [set(pods[topic::topics]) for topic in range(topics)]
    assert [chosen for chosen in by_topic if len(chosen) != 1] == [], "one prefix, several servers"
    # Were there no choice, nothing would be shown; by chance all go to one server once in 2,048 runs.
    assert set[str]().union(*by_topic) == objects.names(models.servers(two_replicas))


def test_prompts_with_nothing_in_common_are_spread_over_the_servers(two_replicas: Laptop) -> None:
    pods = asked(two_replicas, *[prompt(PROMPT_WORDS, 80_000 + n) for n in range(30)], at_once=2)
    assert set(pods) == objects.names(models.servers(two_replicas))
    assert max(pods.count(one) for one in pods) <= 24, pods
