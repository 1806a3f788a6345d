from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localcloud.tests.gke_gateway.lab import Lab, running
from localcloud.tests.gke_gateway.servers import ModelServer


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with running(tmp_path) as started:
        yield started


@pytest.fixture
def serve() -> Iterator[Callable[..., ModelServer]]:
    """Starts model servers; all of them are closed in the end."""
    servers: list[ModelServer] = []

    def start(address: str, port: int) -> ModelServer:
        server = ModelServer(address, port)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()
