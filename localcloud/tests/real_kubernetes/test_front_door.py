"""A front door on the laptop cloud: what callers may and may not, and what is counted.

Skipped where they are not built, also with ``make test CLOUD=laptop``: ``.ci/full front_door`` builds them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from llmd_gke.catalog.front_door import NAMESPACE as DOOR
from llmd_gke.catalog.front_door import PROXIES_NAMESPACE as SYSTEM
from llmd_gke.catalog.metrics import AiGateway
from llmd_gke.manifests.front_door import gateway
from llmd_gke.settings import FrontDoorSettings
from llmd_gke.settings.secret_keys import stand_in_key
from localcloud.tests.real_kubernetes import front_door, objects
from localcloud.tests.real_kubernetes.front_door import keyed
from localcloud.tests.real_kubernetes.harness import Laptop, until
from localcloud.tests.real_kubernetes.serving import ask, chat, completion
from localcloud.tests.real_kubernetes.tokens import Issuer

OPEN, CLOSED = "qwen", "small"
"""Models: one for every caller, one not for ``team-a``."""
REQUESTS, TOKENS = 5, 200
"""Limits: of caller ``counted``, and of caller ``frugal``."""
CALLERS: list[dict[str, Any]] = [
    {"name": "team-a", "models": [OPEN]},
    {"name": "team-b"},
    {"name": "counted", "requestsPerMinute": REQUESTS},
    {"name": "frugal", "tokensPerDay": TOKENS},
]
TEAM_A, TEAM_B, COUNTED, FRUGAL = (stand_in_key(caller["name"]) for caller in CALLERS)


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    def settings(config: dict[str, Any]) -> None:
        config["llmd-gke:frontDoor"]["callers"] = CALLERS

    # The tokens of a stream come apart: AI Gateway counts the time per token only then.
    simulator = {"LLMD_GKE_SIMULATOR_ARGS": "--inter-token-latency 20ms"}
    with front_door.stack_up(tmp_path_factory.mktemp("door"), settings, **simulator) as made:
        # What is counted in a minute would be forgotten before a test has seen it.
        limits = policy(made, "backendtrafficpolicy", "limits")
        for rule in limits["spec"]["rateLimit"]["global"]["rules"]:
            rule["limit"]["unit"] = "Day"
        put(made, limits)
        yield made


def policy(laptop: Laptop, kind: str, name: str) -> dict[str, Any]:
    """A policy of the door, without what the API server has added."""
    one = laptop.get(kind, name, "-n", DOOR)
    return {**{key: one[key] for key in ("apiVersion", "kind", "spec")}, "metadata": {"name": name, "namespace": DOOR}}


def put(laptop: Laptop, *policies: Any) -> None:
    """Puts policies in the place of the program's."""
    for one in policies:
        laptop.kubectl("replace", "-f", "-", stdin=json.dumps(one))


def says(laptop: Laptop, request: dict[str, Any], key: str = "", **headers: str) -> dict[str, Any]:
    """The answer to a request through the load balancer and the door, with that key."""
    (answer,) = ask(laptop, front_door.base(laptop), keyed(request, key, **headers))
    return answer


def test_a_forged_model_or_endpoint_is_not_followed(door: Laptop) -> None:
    answer = says(
        door,
        chat("hello", model=OPEN),
        TEAM_A,
        x_ai_eg_model=CLOSED,
        x_gateway_destination_endpoint="127.0.0.1:19000",
        x_gateway_model_name_rewrite=CLOSED,
    )
    assert answer["status"] == 200, answer
    assert json.loads(answer["text"])["model"] == OPEN


ENDPOINTS = ("/v1/chat/completions", "/v1/embeddings")
FORGED: list[dict[str, str]] = [
    *({"x-ai-eg-model": OPEN, "x-ai-eg-original-path": path} for path in ENDPOINTS),
    *({"X-AI-EG-Model": OPEN, "X-Ai-Eg-Original-Path": path} for path in ENDPOINTS),
    {"x-ai-eg-model": OPEN},
    {"x-ai-eg-original-path": "/v1/chat/completions"},
    {"x-ai-eg-model": OPEN, "x-ai-eg-internal-req-id": "1"},
    {"x-ai-eg-model": OPEN, "x-ai-eg-internal-req-id": "1", "x-ai-eg-original-path": "/v1/completions"},
]
"""AI Gateway's own headers: it reads them of a request without a body, and some end its process."""


def test_forged_headers_of_ai_gateway_end_no_process_and_no_other_callers_answers(door: Laptop) -> None:
    before = {pod["metadata"]["uid"]: objects.restarts(pod) for pod in front_door.proxies(door)}
    hello = chat("hello", model=OPEN)
    bodiless = [
        keyed({"path": path, "method": "POST"}, TEAM_A) | {"headers": {"authorization": f"Bearer {TEAM_A}", **forged}}
        for forged in FORGED
        for path in ENDPOINTS
    ]
    of_another, with_body = keyed(hello, TEAM_B), [{**one, "body": hello["body"]} for one in bodiless]
    for attack in (bodiless, with_body):
        requests = [one for pair in zip(attack, [of_another] * len(attack), strict=True) for one in pair]
        statuses = [answer["status"] for answer in ask(door, front_door.base(door), *requests)]
        assert [one for one in statuses[::2] if one >= 500] == [], statuses
        assert statuses[1::2] == [200] * len(attack)
        if attack is bodiless:
            assert {one // 100 for one in statuses[::2]} == {4}
    assert {pod["metadata"]["uid"]: objects.restarts(pod) for pod in front_door.proxies(door)} == before


def test_a_query_string_changes_nothing(door: Laptop) -> None:
    requests: list[dict[str, Any]] = [
        chat("hello", model=OPEN, path="/v1/chat/completions?api-version=2024-02-01"),
        completion("hello", model=OPEN, path="/v1/completions?x=1&y"),
        {"path": "/v1/responses?x=1", "body": {"model": OPEN, "input": "hello"}},
    ]
    answers = ask(door, front_door.base(door), *(keyed(one, TEAM_A) for one in requests))
    assert [one["status"] for one in answers] == [200] * len(requests), answers
    assert says(door, chat("hello", model=CLOSED, path="/v1/chat/completions?x=1"), TEAM_A)["status"] == 403


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"path": "/v1/chat/completions", "method": "POST", "raw": '{"model": "open", "a": "b" "c"}'}, "malformed request"),
    (completion("", model=OPEN, prompt=[1, 2, 3]), "must have prompt field"),
    (completion("", model=OPEN, prompt=[[1, 2, 3], [4, 5]], stream=True), "must have prompt field"),
    (chat("", model=OPEN, messages=[]), "must have valid messages field"),
]
"""Requests, and the reason in their 400: of AI Gateway, or of the picker 1.5.0, which takes no token ids."""


def test_a_400_says_what_is_wrong_with_the_request(door: Laptop) -> None:
    answers = ask(door, front_door.base(door), *(keyed(request, TEAM_A) for request, _ in INVALID))
    assert [one["status"] for one in answers] == [400] * len(INVALID), answers
    for answer, (_, reason) in zip(answers, INVALID, strict=True):
        error = json.loads(answer["text"])["error"]
        assert reason in error["message"]
        assert (error["type"], error["code"]) == ("invalid_request_error", "invalid_request")


def test_other_paths_of_the_server_are_shut_at_the_load_balancer_and_at_the_door(door: Laptop) -> None:
    paths = ["/metrics", "/health", "/pause", "/tokenize", "/v1/load_lora_adapter", "/v1/metrics", "/v1/tokenize"]
    requests = [keyed({"path": path}, TEAM_A) for path in paths]
    for base in (front_door.base(door), f"http://{front_door.service(door)}"):
        answers = ask(door, base, *requests)
        assert {path: one["status"] for path, one in zip(paths, answers, strict=True)} == dict.fromkeys(paths, 404)


def test_the_service_of_the_door_asks_for_a_key_too(door: Laptop) -> None:
    without, with_key = ask(
        door, f"http://{front_door.service(door)}", *(keyed({"path": "/v1/models"}, k) for k in ("", TEAM_A))
    )
    assert (without["status"], with_key["status"]) == (401, 200)


def test_the_caller_of_a_key_is_in_the_metrics_whatever_a_client_says_about_itself(door: Laptop) -> None:
    lines: list[str] = []

    def missing() -> list[str]:
        for stream in (True, False):
            answer = says(door, chat("one two three", model=OPEN, stream=stream), TEAM_A, x_llm_caller="somebody-else")
            assert answer["status"] == 200, answer
        lines[:] = [line for text in front_door.metrics_of_proxies(door) for line in text.splitlines()]
        of_caller = [line for line in lines if 'caller="team-a"' in line]
        return [name for name in AiGateway if not any(line.startswith(name) for line in of_caller)]

    # The tokens of a stream may come all at once on a busy machine, and then no time per token is counted.
    until(lambda: not missing(), "all metrics of AI Gateway with the caller")
    assert not any("somebody-else" in line for line in lines)


def test_a_caller_over_its_limit_of_requests_waits_and_no_other_does(door: Laptop) -> None:
    base, key = front_door.base(door), COUNTED
    requests = [keyed(chat("hello", model=(OPEN, CLOSED)[number % 2]), key) for number in range(REQUESTS + 2)]
    statuses = [answer["status"] for answer in ask(door, base, *requests)]
    assert statuses == [200] * REQUESTS + [429] * 2, "two Envoys and two models, one count"
    assert says(door, chat("hello", model=OPEN), TEAM_A)["status"] == 200

    limiters = [objects.name(pod) for pod in objects.pods_of(door, "envoy-ratelimit", SYSTEM)]
    door.kubectl("delete", "pod", *limiters, "-n", SYSTEM, "--grace-period=0", "--force", "--wait=false")
    until(
        lambda: not {*limiters} & {objects.name(pod) for pod in objects.pods_of(door, "envoy-ratelimit", SYSTEM)},
        "their end",
        60,
    )
    until(lambda: says(door, chat("hello", model=CLOSED), key)["status"] == 429, "the count, with a new limiter", 90)


def test_a_caller_over_its_budget_of_tokens_is_rejected_whatever_it_asks(door: Laptop) -> None:
    key = FRUGAL
    for _ in range(TOKENS):
        if says(door, chat("one two three four five six seven", model=OPEN), key)["status"] == 429:
            break
    until(lambda: says(door, chat("hello", model=OPEN), key)["status"] == 429, "the end of the budget", 30)
    assert says(door, completion("hello", model=CLOSED), key)["status"] == 429
    assert says(door, chat("hello", model=OPEN), TEAM_A)["status"] == 200


def test_with_tokens_a_claim_names_the_caller_and_nothing_else_opens_the_door(door: Laptop) -> None:
    """The program's own policies, with the issuer's keys in one of them: no issuer can be reached here."""
    issuer = Issuer("https://id.example.com", "llm")
    identity = {"issuer": issuer.name, "audiences": [issuer.audience], "callerClaim": "team", "jwksUri": "https://x/k"}
    callers = [{"name": "team-a"}, {"name": "team-b"}]
    settings = FrontDoorSettings.model_validate({"callers": callers, "identity": identity})
    by_token = cast("Any", gateway.callers(settings))
    (provider,) = by_token["spec"]["jwt"]["providers"]
    del provider["remoteJWKS"]
    provider["localJWKS"] = {"type": "Inline", "inline": issuer.keys()}
    hello, team_a = chat("hello", model=OPEN), issuer.token(team="team-a")
    by_keys = [policy(door, kind, "callers") for kind in ("securitypolicy", "envoyextensionpolicy")]
    try:
        put(door, by_token, gateway.extension(settings, []))
        # Both Envoys, each of which takes the listener and the routes one after the other.
        until(lambda: all(says(door, hello, team_a)["status"] == 200 for _ in range(8)), "a token of team-a", 60)
        asked: list[tuple[str, str, int]] = [
            (OPEN, issuer.token(team="team-b"), 200),
            (CLOSED, issuer.token(team="team-b"), 200),
            (CLOSED, team_a, 403),
            (OPEN, issuer.token(team="team-a.next"), 403),
            (OPEN, issuer.token(team="somebody-else"), 403),
            (OPEN, issuer.token(), 403),
            (OPEN, issuer.token(team="team-a", aud="another"), 403),
            (OPEN, issuer.token(team="team-a", exp=1), 401),
            (OPEN, Issuer(issuer.name, issuer.audience).token(team="team-a"), 401),
            (OPEN, team_a[:-8] + "AAAAAAAA", 401),
            (OPEN, TEAM_A, 401),
            (OPEN, "", 401),
        ]
        seen = [says(door, chat("hello", model=model), token)["status"] for model, token, _ in asked]
        assert seen == [status for *_, status in asked]
        schemes = [f"{scheme} {team_a}" for scheme in ("bearer", "BEARER")]
        assert [says(door, hello, authorization=one)["status"] for one in schemes] == [200, 200]
        forged = says(door, chat("hello", model=CLOSED), team_a, x_llm_caller="team-b")
        assert forged["status"] == 403
    finally:
        put(door, *by_keys)
    until(lambda: says(door, chat("hello", model=OPEN), TEAM_A)["status"] == 200, "keys again", 30)
