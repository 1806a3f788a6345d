"""``python -m localcloud.nodes``: runs in the laptop cloud of ``$LLMD_GKE_HOME`` until SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import ssl

from llmd_common.kubernetes import client as kubernetes
from llmd_common.kubernetes.cache import Mirror
from llmd_common.kubernetes.client import Kube, Resource
from llmd_common.kubernetes.watch import watch
from localcloud import binaries
from localcloud.common import daemon, https
from localcloud.common.layout import Layout
from localcloud.nodes import logs, objectives, runtime
from localcloud.nodes.environment import Sources
from localcloud.nodes.events import Recorder
from localcloud.nodes.heartbeats import Heartbeats
from localcloud.nodes.images import ImageTable
from localcloud.nodes.launch_spec import LaunchBuilder
from localcloud.nodes.launcher import mount
from localcloud.nodes.manager import PodManager
from localcloud.nodes.nodes import KUBELET_PORT
from localcloud.nodes.pod import Host
from localcloud.nodes.pools import NodePools
from localcloud.nodes.timings import Timings

log = logging.getLogger("kubelet")


async def main(layout: Layout) -> None:
    """Runs the kubelet until it is cancelled."""
    home = layout.home
    timings = Timings.read()
    runtime.become_subreaper()
    memory, root = home / "cluster" / "run" / "volumes", home / "cluster" / "run" / "root"
    for folder in (memory, root):
        folder.mkdir(parents=True, exist_ok=True)
    if not memory.is_mount():
        mount("tmpfs", str(memory), "tmpfs", 0, "mode=700")
    client = await kubernetes.from_home(home)
    nodes, pods = Mirror(kubernetes.NODES), Mirror(kubernetes.PODS)
    secrets, config_maps, services = (
        Mirror(kubernetes.SECRETS),
        Mirror(kubernetes.CONFIG_MAPS),
        Mirror(kubernetes.SERVICES),
    )
    launch_builder = LaunchBuilder(
        ImageTable(home, binaries.path),
        Sources(secrets, config_maps, services),
        timings,
        os.environ.get("LLMD_GKE_SIMULATOR_ARGS", ""),
    )
    host = Host(
        kube=client,
        recorder=Recorder(client, "kubelet"),
        launch_builder=launch_builder,
        folder=home / "cluster" / "pods",
        memory=memory,
        shared=home / "cluster" / "volumes",
        root=root,
    )
    manager = PodManager(host, nodes, pods)
    heartbeats = Heartbeats(client)
    autoscaler = Recorder(client, "cluster-autoscaler")
    file = home / "cloud" / "google.json"
    pools = NodePools(client, file, nodes, pods, recorder=autoscaler, timings=timings, heartbeats=heartbeats)
    async with asyncio.TaskGroup() as group:
        for mirror in (nodes, secrets, config_maps, services):
            group.create_task(_follow(client, mirror, manager))
        for mirror in (nodes, secrets, config_maps, services):
            await mirror.synced.wait()
        group.create_task(manager.run(client))
        await pods.synced.wait()
        group.create_task(pools.run())
        group.create_task(heartbeats.run(pools.ours))
        group.create_task(objectives.run(client))
        context = https.tls(layout.pki / "apiserver")  # no caller verifies whose it is
        context.load_verify_locations(layout.authority)
        context.verify_mode = ssl.CERT_REQUIRED
        server = await asyncio.start_server(logs.Logs(manager.log).answer, "0.0.0.0", KUBELET_PORT, ssl=context)  # noqa: S104 - every node's address
        log.info("runs")
        daemon.ready(layout, "kubelet")
        try:
            await asyncio.Event().wait()
        finally:
            log.info("ends")
            server.close()


async def _follow(client: Kube, mirror: Mirror, manager: PodManager) -> None:
    """Keeps a mirror current, and notifies the pods of changes that concern them."""
    contents: tuple[Resource, ...] = (kubernetes.SECRETS, kubernetes.CONFIG_MAPS)
    async with contextlib.aclosing(watch(client, mirror.resource)) as events:
        async for event in events:
            mirror.take(event)
            if event.type == "SYNCED":
                continue
            if mirror.resource in contents:
                manager.contents_changed(str(event.object["metadata"]["namespace"]))
            elif mirror.resource == kubernetes.NODES:
                manager.retry()


if __name__ == "__main__":
    daemon.run(main)
