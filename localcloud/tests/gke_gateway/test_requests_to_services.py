"""Requests through a real Envoy to Services: matching, rewriting, redirects, time limits, health, retries, TLS."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from localcloud.gke_gateway.certificates import self_signed
from localcloud.providers.protocol.values import JsonObject, JsonValue
from localcloud.tests.gke_gateway import builders as b
from localcloud.tests.gke_gateway.lab import Lab
from localcloud.tests.gke_gateway.servers import ModelServer, free_port
from tests.waiting import eventually

Serve = Callable[..., ModelServer]


def serving(port: int, *addresses: str, name: str = "models", **more: JsonValue) -> list[JsonObject]:
    return [
        b.service(name, **more),  # pyright: ignore[reportArgumentType]
        b.endpoint_slice(name, port, *(addresses or ("127.0.1.1",))),
    ]


@pytest.mark.parametrize(
    ("asked", "reached"),
    [
        ("/llm/qwen", "/"),
        ("/llm/qwen/v1/completions?a=b", "/v1/completions?a=b"),
        ("/llm/qwen2/v1", None),
        ("/moved/on", "/new/place/on"),
        ("/moved", "/new/place"),
        ("/exactly", "/exactly"),
        ("/exactly/not", None),
        ("/elsewhere", None),
    ],
)
def test_a_path_reaches_the_backend_as_its_rule_says(lab: Lab, serve: Serve, asked: str, reached: str | None) -> None:
    server = serve("127.0.1.1", free_port())
    exact: JsonObject = {"matches": [{"path": {"type": "Exact", "value": "/exactly"}}]}
    lab.apply(
        b.gateway(port=lab.port),
        b.route(
            "paths",
            b.rule("/llm/qwen", b.to_service("models"), filters=[b.rewrite("/")]),
            b.rule("/moved", b.to_service("models"), filters=[b.rewrite("/new/place")]),
            {**exact, "backendRefs": [b.to_service("models")]},
        ),
        *serving(server.port),
        b.health_policy("Service", "models"),
    )
    lab.await_healthy("models")
    answer = lab.client.get(asked)
    if reached is None:
        # The wording of Google's Envoy-based load balancers.
        assert (answer.status_code, answer.text, server.asked) == (404, "fault filter abort", [])
    else:
        assert server.asked == [reached]


def test_without_a_policy_health_is_asked_at_the_root_and_a_model_server_is_never_healthy(
    lab: Lab, serve: Serve
) -> None:
    server = serve("127.0.1.1", free_port())
    without = [b.gateway(port=lab.port), b.route("all", b.rule("/", b.to_service("models"))), *serving(server.port)]
    lab.apply(*without)
    eventually(lambda: server.checked == ["/"])
    answer = lab.client.get("/v1/models")
    assert (answer.status_code, answer.text, server.asked) == (503, "no healthy upstream", [])
    lab.apply(*without, b.health_policy("Service", "models"))
    lab.await_healthy("models")
    assert lab.client.get("/v1/models").is_success


def test_an_endpoint_that_fails_its_health_check_gets_no_requests(lab: Lab, serve: Serve) -> None:
    port = free_port()
    well, ill = serve("127.0.1.1", port), serve("127.0.1.2", port)
    lab.apply(
        b.gateway(port=lab.port),
        b.route("all", b.rule("/", b.to_service("models"))),
        *serving(port, "127.0.1.1", "127.0.1.2"),
        b.health_policy("Service", "models"),
    )
    lab.await_healthy("models", 2)
    ill.health = 500
    lab.await_healthy("models", 1)
    ill.asked.clear()
    for _ in range(20):
        assert lab.client.get("/x").is_success
    assert (len(well.asked) >= 20, ill.asked) == (True, [])


def test_a_backend_has_no_longer_than_its_policy_says(lab: Lab, serve: Serve) -> None:
    server = serve("127.0.1.1", free_port())
    objects = [
        b.gateway(port=lab.port),
        b.route("all", b.rule("/", b.to_service("models"))),
        *serving(server.port),
        b.health_policy("Service", "models"),
    ]
    lab.apply(*objects, b.backend_policy("Service", "models", timeoutSec=1))
    lab.await_healthy("models")
    started = time.monotonic()
    answer = lab.client.get("/slow")
    assert (answer.status_code, answer.text) == (504, "upstream request timeout")
    assert 0.9 < time.monotonic() - started < 1.4
    lab.apply(*objects, b.backend_policy("Service", "models", timeoutSec=300))
    eventually(lambda: lab.client.get("/slow").is_success)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_that_fails_before_the_answer_is_sent_to_another_pod(lab: Lab, serve: Serve, method: str) -> None:
    port = free_port()
    good, bad = serve("127.0.1.1", port), serve("127.0.1.2", port)
    lab.apply(
        b.gateway(port=lab.port),
        b.route("all", b.rule("/", b.to_service("models"))),
        *serving(port, "127.0.1.1", "127.0.1.2"),
        b.health_policy("Service", "models"),
    )
    lab.await_healthy("models", 2)
    bad.fails_before_the_answer = True
    # Enough of them to tell a choice that is sure from one that is only likely.
    answers = [lab.client.request(method, "/x", content=b"{}") for _ in range(80)]
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json()["pod"] for answer in answers} == {good.address}
    assert bad.asked, "the bad one was never tried, so nothing is shown"


def test_pieces_of_a_stream_arrive_one_by_one(lab: Lab, serve: Serve) -> None:
    server = serve("127.0.1.1", free_port())
    lab.apply(
        b.gateway(port=lab.port),
        b.route("all", b.rule("/", b.to_service("models"))),
        *serving(server.port),
        b.health_policy("Service", "models"),
    )
    lab.await_healthy("models")
    with lab.client.stream("GET", "/stream") as answer:
        arrived = [(time.monotonic(), piece) for piece in answer.iter_text()]
    assert "".join(piece for _, piece in arrived) == "".join(f"data: {n}\n\n" for n in range(4))
    assert arrived[-1][0] - arrived[0][0] > 0.4


def test_https_to_a_server_of_plain_http_fails_and_http_to_it_works(lab: Lab, serve: Serve) -> None:
    server = serve("127.0.1.1", free_port())
    common = [b.gateway(port=lab.port), b.route("all", b.rule("/", b.to_service("models")))]
    slice_ = b.endpoint_slice("models", server.port, "127.0.1.1")
    # The policy asks over HTTP, so the endpoint counts as healthy, and the error is that of the request.
    lab.apply(*common, b.service("models", protocol="https"), slice_, b.health_policy("Service", "models"))
    lab.await_healthy("models")
    answer = lab.client.get("/v1/models")
    assert (answer.status_code, server.asked) == (503, [])
    assert answer.text.startswith("upstream connect error or disconnect/reset before headers")
    eventually(lambda: "WRONG_VERSION_NUMBER" in lab.files.access_log.read_text())
    lab.apply(*common, b.service("models", protocol="http"), slice_, b.health_policy("Service", "models"))
    eventually(lambda: lab.client.get("/v1/models").is_success)


def test_https_to_a_server_of_https_does_not_ask_who_signed_its_certificate(
    lab: Lab, serve: Serve, tmp_path: Path
) -> None:
    self_signed("server", "model.invalid", tmp_path)
    server = serve("127.0.1.1", free_port(), (tmp_path / "server.pem", tmp_path / "server.key"))
    asked: JsonObject = {"requestPath": "/health", "portSpecification": "USE_SERVING_PORT"}
    policy = b.health_policy("Service", "models")
    default = policy["spec"]["default"]  # type: ignore[index,call-overload]
    default["config"] = {"type": "HTTPS", "httpsHealthCheck": asked}  # type: ignore[index]
    lab.apply(
        b.gateway(port=lab.port),
        b.route("all", b.rule("/", b.to_service("models"))),
        b.service("models", protocol="https"),
        b.endpoint_slice("models", server.port, "127.0.1.1"),
        policy,
    )
    lab.await_healthy("models")
    assert lab.client.get("/v1/models").is_success


def test_nobody_outside_says_where_a_request_goes_or_how_long_it_may_take(lab: Lab, serve: Serve) -> None:
    server = serve("127.0.1.1", free_port())
    lab.apply(
        b.gateway(port=lab.port),
        b.route("all", b.rule("/", b.to_service("models"))),
        *serving(server.port),
        b.health_policy("Service", "models"),
    )
    lab.await_healthy("models")
    sent = {"x-gateway-destination-endpoint": "127.0.0.9:1", "x-envoy-upstream-rq-timeout-ms": "1"}
    answer = lab.client.get("/slow", headers=sent)
    assert answer.is_success
    assert not set(sent) & {name.lower() for name in answer.json()["headers"]}
