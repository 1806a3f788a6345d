"""``python -m llmd_gke.laptop.services``: runs in the laptop cloud of ``$LLMD_GKE_HOME`` until SIGTERM."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from pathlib import Path

from llmd_gke.laptop import kube
from llmd_gke.laptop.errors import Problem
from llmd_gke.laptop.mirror import mirrors
from llmd_gke.laptop.paths import Places
from llmd_gke.laptop.services.names import Resolver, names
from llmd_gke.laptop.services.proxy import Proxy
from llmd_gke.laptop.services.table import table

SETTLE_SECONDS = 0.02
"""Changes within that time are taken together."""
AGAIN_SECONDS = 10.0
"""An address that could not be bound is tried again after that time."""


async def main(home: Path) -> None:
    """Until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    client = await kube.from_home(home)
    async with mirrors(client, kube.SERVICES, kube.ENDPOINT_SLICES) as (changed, (services, slices)):
        proxy, resolver = Proxy(), Resolver()
        await resolver.open()
        stopping = asyncio.create_task(stop.wait())
        while not stopping.done():
            changed.clear()
            resolver.known = names(services, slices)
            await proxy.show(table(services, slices))
            waiting = asyncio.create_task(changed.wait())
            await asyncio.wait({stopping, waiting}, timeout=AGAIN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            await asyncio.sleep(SETTLE_SECONDS)
        proxy.close()
        resolver.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        asyncio.run(main(Places.of().home))
    except Problem as problem:
        print(problem, file=sys.stderr)
        sys.exit(problem.status)
