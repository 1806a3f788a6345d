"""When our daemons say that they are ready: neither before they serve, nor after what waits for them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine
from pathlib import Path
from typing import cast

import pytest

from llmd_common.kubernetes import client
from llmd_common.kubernetes.cache import Mirror
from llmd_common.kubernetes.client import Kube
from localcloud.common.layout import Layout
from localcloud.gke_gateway import __main__ as gateway
from localcloud.service_network import __main__ as services
from localcloud.service_network.dns_server import Resolver


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A cluster whose API server is reached and never asked."""

    async def reached(_home: Path) -> Kube:
        return cast("Kube", None)

    monkeypatch.setattr(client, "from_home", reached)
    made = Layout(tmp_path)
    made.run.mkdir(parents=True)
    return made


async def until_ready(daemon: Coroutine[object, object, None], mark: Path) -> None:
    """Runs a daemon until it says that it is ready; an error of its own comes out."""
    task = asyncio.ensure_future(daemon)
    async with asyncio.timeout(30):
        while not mark.exists() and not task.done():
            await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def test_the_gateway_is_ready_before_the_program_has_made_its_cluster(layout: Layout) -> None:
    asyncio.run(until_ready(gateway.serve(layout), layout.mark("gateway")))
    assert layout.mark("gateway").exists()


@contextlib.asynccontextmanager
async def nothing(*_: object) -> AsyncGenerator[tuple[asyncio.Event, list[Mirror]], None]:
    """A cluster without Services, listed already."""
    yield asyncio.Event(), [Mirror(client.SERVICES), Mirror(client.ENDPOINT_SLICES)]


def test_the_service_proxy_is_ready_once_it_answers_for_names(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, opened = layout.mark("service-proxy"), list[bool]()

    async def opens(_: Resolver) -> None:
        opened.append(mark.exists())

    monkeypatch.setattr(services, "mirrors", nothing)
    monkeypatch.setattr(Resolver, "open", opens)
    asyncio.run(until_ready(services.main(layout), mark))
    assert mark.exists()
    assert opened == [False]


def test_the_service_proxy_is_not_ready_where_it_cannot_listen(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    async def taken(_: Resolver) -> None:
        raise OSError(98, "Address already in use")

    monkeypatch.setattr(services, "mirrors", nothing)
    monkeypatch.setattr(Resolver, "open", taken)
    with pytest.raises(OSError, match="in use"):
        asyncio.run(until_ready(services.main(layout), layout.mark("service-proxy")))
    assert not layout.mark("service-proxy").exists()
