"""``python -m localcloud.service_network``: runs in the laptop cloud of ``$LLMD_GKE_HOME`` until SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib

from llmd_common.kubernetes import client as kubernetes
from llmd_common.kubernetes.cache import mirrors
from localcloud.common import daemon
from localcloud.common.layout import Layout
from localcloud.service_network.dns_records import names
from localcloud.service_network.dns_server import Resolver
from localcloud.service_network.kube_proxy import Proxy
from localcloud.service_network.load_balancers import LoadBalancers
from localcloud.service_network.routing_table import table

SETTLE_SECONDS = 0.02
"""Seconds within which changes are combined."""
AGAIN_SECONDS = 10.0
"""Seconds after which an address that could not be bound, or written, is tried again."""


async def main(layout: Layout) -> None:
    """Runs the service proxy and the DNS server until cancelled."""
    client = await kubernetes.from_home(layout.home)
    async with mirrors(client, kubernetes.SERVICES, kubernetes.ENDPOINT_SLICES) as (changed, (services, slices)):
        proxy, resolver, balancers = Proxy(), Resolver(), LoadBalancers(client, services)

        async def show() -> None:
            changed.clear()
            await balancers.show()
            resolver.records = names(services, slices)
            await proxy.show(table(services, slices))

        try:
            await resolver.open()
            await show()
            daemon.ready(layout, "service-proxy")
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(AGAIN_SECONDS):
                        await changed.wait()
                await asyncio.sleep(SETTLE_SECONDS)
                await show()
        finally:
            proxy.close()
            resolver.close()


if __name__ == "__main__":
    daemon.run(main)
