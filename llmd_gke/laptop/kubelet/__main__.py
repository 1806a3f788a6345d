"""``python -m llmd_gke.laptop.kubelet``: runs in the laptop cloud of ``$LLMD_GKE_HOME`` until SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os

from llmd_gke.laptop import daemon, kube, programs
from llmd_gke.laptop.cluster.layout import Layout
from llmd_gke.laptop.kube import Kube, Resource
from llmd_gke.laptop.kubelet import logs, runtime
from llmd_gke.laptop.kubelet.environment import Sources
from llmd_gke.laptop.kubelet.events import Recorder
from llmd_gke.laptop.kubelet.heartbeats import Heartbeats
from llmd_gke.laptop.kubelet.images import Table
from llmd_gke.laptop.kubelet.knobs import Knobs
from llmd_gke.laptop.kubelet.launcher import mount
from llmd_gke.laptop.kubelet.launching import Launching
from llmd_gke.laptop.kubelet.manager import PodManager
from llmd_gke.laptop.kubelet.nodes import KUBELET_PORT
from llmd_gke.laptop.kubelet.pod import Host
from llmd_gke.laptop.kubelet.pools import NodePools
from llmd_gke.laptop.mirror import Mirror
from llmd_gke.laptop.watching import watch

log = logging.getLogger("kubelet")


async def main(layout: Layout) -> None:
    """Everything, until cancelled."""
    home = layout.home
    knobs = Knobs.read()
    runtime.become_subreaper()
    memory, root = home / "cluster" / "run" / "volumes", home / "cluster" / "run" / "root"
    for folder in (memory, root):
        folder.mkdir(parents=True, exist_ok=True)
    if not memory.is_mount():
        mount("tmpfs", str(memory), "tmpfs", 0, "mode=700")
    client = await kube.from_home(home)
    nodes, pods = Mirror(kube.NODES), Mirror(kube.PODS)
    secrets, config_maps, services = Mirror(kube.SECRETS), Mirror(kube.CONFIG_MAPS), Mirror(kube.SERVICES)
    launching = Launching(
        Table(home, programs.path),
        Sources(secrets, config_maps, services),
        knobs,
        os.environ.get("LLMD_GKE_SIMULATOR_ARGS", ""),
    )
    host = Host(
        client,
        Recorder(client, "kubelet"),
        launching,
        home / "cluster" / "pods",
        memory,
        home / "cluster" / "volumes",
        root,
    )
    manager = PodManager(host, nodes, pods)
    heartbeats = Heartbeats(client)
    autoscaler = Recorder(client, "cluster-autoscaler")
    pools = NodePools(client, home / "cloud" / "google.json", nodes, pods, autoscaler, knobs, heartbeats)
    async with asyncio.TaskGroup() as group:
        for mirror in (nodes, secrets, config_maps, services):
            group.create_task(_follow(client, mirror, manager))
        for mirror in (nodes, secrets, config_maps, services):
            await mirror.synced.wait()
        group.create_task(manager.run(client))
        await pods.synced.wait()
        group.create_task(pools.run())
        group.create_task(heartbeats.run(pools.ours))
        context = logs.tls(home / "cluster" / "run", home / "cluster" / "pki" / "ca.crt")
        server = await asyncio.start_server(logs.Logs(manager.log).answer, "0.0.0.0", KUBELET_PORT, ssl=context)  # noqa: S104 - every node's address
        log.info("runs")
        daemon.ready(layout, "kubelet")
        try:
            await asyncio.Event().wait()
        finally:
            log.info("ends")
            server.close()


async def _follow(client: Kube, mirror: Mirror, manager: PodManager) -> None:
    """Keeps a mirror, and tells the pods what concerns them."""
    contents: tuple[Resource, ...] = (kube.SECRETS, kube.CONFIG_MAPS)
    async with contextlib.aclosing(watch(client, mirror.resource)) as events:
        async for event in events:
            mirror.take(event)
            if event.type == "SYNCED":
                continue
            if mirror.resource in contents:
                manager.contents_changed(str(event.object["metadata"]["namespace"]))
            elif mirror.resource == kube.NODES:
                manager.retry()


if __name__ == "__main__":
    daemon.run(main)
