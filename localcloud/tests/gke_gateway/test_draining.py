"""Connections to endpoints that have gone, through a real Envoy."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping

import httpx
import pytest

from localcloud.gke_gateway.applied_config import drained_endpoints
from localcloud.gke_gateway.draining import Draining
from localcloud.gke_gateway.resources.endpoints import PodEndpoint
from localcloud.tests.gke_gateway import builders as b
from localcloud.tests.gke_gateway.lab import Lab
from localcloud.tests.gke_gateway.servers import ModelServer, free_port


@pytest.mark.skipif(os.geteuid() != 0, reason="the laptop cloud has this right in its own network namespace")
def test_a_request_to_a_removed_endpoint_is_cut_when_draining_is_over(
    lab: Lab, serve: Callable[..., ModelServer]
) -> None:
    server = serve("127.0.1.1", free_port())

    def apply(*addresses: str) -> Mapping[PodEndpoint, int]:
        snapshot = lab.apply(
            b.gateway(port=lab.port),
            b.route("all", b.rule("/", b.to_service("models"))),
            b.service("models"),
            b.endpoint_slice("models", server.port, *addresses),
            b.health_policy("Service", "models"),
            b.backend_policy("Service", "models", connectionDraining={"drainingTimeoutSec": 1}),
        )
        return drained_endpoints(lab.programs, snapshot)

    async def request_while_the_endpoint_goes() -> float:
        draining = Draining()
        draining.follow(apply(server.address))
        lab.await_healthy("models")
        running = asyncio.create_task(asyncio.to_thread(lab.client.get, "/stream"))
        await asyncio.to_thread(server.streaming.wait)
        draining.follow(apply())
        start = time.monotonic()
        with pytest.raises(httpx.RemoteProtocolError):
            await running
        return time.monotonic() - start

    assert asyncio.run(request_while_the_endpoint_goes()) >= 0.9
