"""The daemon: ``python -m localcloud.gke_gateway``, for the cluster of ``$LLMD_GKE_HOME``, until SIGTERM."""

from __future__ import annotations

import asyncio
import logging

from llmd_common.kubernetes import client
from localcloud.common import daemon
from localcloud.common.layout import Layout
from localcloud.gke_gateway.applied_config import Store
from localcloud.gke_gateway.controller import Controller
from localcloud.gke_gateway.crds.install import definitions, install_crds
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.envoy.process import Envoy
from localcloud.gke_gateway.events import Events
from localcloud.gke_gateway.resources import classes
from localcloud.gke_gateway.resources.objects import GATEWAY_CLASS, RESOURCES
from localcloud.gke_gateway.watched_objects import Watched
from localcloud.metrics_adapter import serve as metrics_adapter

log = logging.getLogger("localcloud.gke_gateway")

MANAGER = "gke-gateway-controller"


async def serve(layout: Layout) -> None:
    """Runs the daemon until it is cancelled."""
    api = await client.from_home(layout.home)
    root = layout.root / "gateway"
    files = EnvoyFiles(root / "envoy")
    watched = Watched(api, layout.home / "cloud" / "google.json")
    controller = Controller(api, watched, files, Store(root / "accepted"), Events(api))
    envoy = Envoy(files, log_file=layout.log("envoy"))
    async with asyncio.TaskGroup() as group:
        group.create_task(watched.watch_cloud())
        # Not later: the cluster that has the Gateway API on is made by the program, which waits for this.
        daemon.ready(layout, "gateway")
        group.create_task(_managed_metrics(api, layout, watched))
        await watched.gateway_api()
        await _install(api, layout)
        group.create_task(envoy.run())
        group.create_task(watched.watch_kinds())
        group.create_task(controller.run())


async def _managed_metrics(api: client.Kube, layout: Layout, watched: Watched) -> None:
    """Runs GKE's managed adapter of metrics beside this, in clusters that have it."""
    await watched.managed_metrics()
    await metrics_adapter.serve(api, layout)


async def _install(api: client.Kube, layout: Layout) -> None:
    """Installs what GKE adds to a cluster with the Gateway API: CRDs, then GatewayClasses."""
    await install_crds(api, definitions(layout.crds))
    for gateway_class in classes.objects():
        await api.apply(RESOURCES[GATEWAY_CLASS], gateway_class, manager=MANAGER)
    log.info("the Gateway API is enabled: CRDs and GatewayClasses exist")


if __name__ == "__main__":
    daemon.run(serve)
