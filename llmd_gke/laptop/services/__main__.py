"""``python -m llmd_gke.laptop.services``: runs in the laptop cloud of ``$LLMD_GKE_HOME`` until SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib

from llmd_gke.laptop import daemon, kube
from llmd_gke.laptop.cluster.layout import Layout
from llmd_gke.laptop.mirror import mirrors
from llmd_gke.laptop.services.names import names
from llmd_gke.laptop.services.proxy import Proxy
from llmd_gke.laptop.services.resolver import Resolver
from llmd_gke.laptop.services.table import table

SETTLE_SECONDS = 0.02
"""Changes within that time are taken together."""
AGAIN_SECONDS = 10.0
"""An address that could not be bound is tried again after that time."""


async def main(layout: Layout) -> None:
    """Until cancelled."""
    client = await kube.from_home(layout.home)
    async with mirrors(client, kube.SERVICES, kube.ENDPOINT_SLICES) as (changed, (services, slices)):
        proxy, resolver = Proxy(), Resolver()

        async def show() -> None:
            changed.clear()
            resolver.known = names(services, slices)
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
