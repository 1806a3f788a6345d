"""A request through a real Envoy to a Service. Upstream's conformance suites and ``real_kubernetes`` show the
rest: matching, rewriting, redirects, time limits, health, retries, TLS, pools and their pickers.
"""

from __future__ import annotations

from collections.abc import Callable

from localcloud.tests.gke_gateway import builders as b
from localcloud.tests.gke_gateway.lab import Lab
from localcloud.tests.gke_gateway.servers import ModelServer, free_port


def test_nobody_outside_says_where_a_request_goes_or_how_long_it_may_take(
    lab: Lab, serve: Callable[..., ModelServer]
) -> None:
    server = serve("127.0.1.1", free_port())
    lab.apply(
        b.gateway(port=lab.port),
        b.route("all", b.rule("/", b.to_service("models"))),
        b.service("models"),
        b.endpoint_slice("models", server.port, "127.0.1.1"),
        b.health_policy("Service", "models"),
    )
    lab.await_healthy("models")
    sent = {"x-gateway-destination-endpoint": "127.0.0.9:1", "x-envoy-upstream-rq-timeout-ms": "1"}
    answer = lab.client.get("/slow", headers=sent)
    assert answer.is_success
    assert not set(sent) & {name.lower() for name in answer.json()["headers"]}
