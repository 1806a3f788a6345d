"""The daemon: ``python -m localcloud.monitoring``, for the cluster of ``$LLMD_GKE_HOME``, until SIGTERM."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from llmd_common.kubernetes import client
from llmd_common.kubernetes.cache import Mirror, mirrors
from localcloud import binaries
from localcloud.common import daemon
from localcloud.common.layout import Layout
from localcloud.google_api.core.cloud import API_FILE
from localcloud.linux_namespaces import network
from localcloud.linux_namespaces.addresses import CONTROL_PLANE, GOOGLE_APIS, METADATA_SERVER
from localcloud.monitoring import collector, google, kube_state, options, prometheus
from localcloud.monitoring.files import PrometheusFiles
from localcloud.monitoring.query_api import QueryApi
from localcloud.monitoring.targets import ScrapeEndpoint, SecretKey, endpoints
from localcloud.product import monitoring
from localcloud.providers.protocol.cloud import CloudFile
from localcloud.providers.protocol.values import JsonObject

log = logging.getLogger("localcloud.monitoring")

POD_MONITORINGS = client.Resource(monitoring.API_VERSION, "podmonitorings")
NETWORK_POLICIES = client.Resource("networking.k8s.io/v1", "networkpolicies")

GATHER_SECONDS = 0.2
"""Seconds to wait after a change for further ones."""
LOOK_SECONDS = 2.0
"""Seconds between two checks of tokens, rules and the cluster's settings if nothing changes."""


@dataclass
class Collectors:
    """Keeps Prometheus' files like the cluster, and its programs running."""

    layout: Layout
    kube: client.Kube
    files: PrometheusFiles
    reloader: prometheus.Reloader = field(init=False)
    api: QueryApi = field(init=False)
    _as_collector: client.Kube | None = None
    _signed_in: float = 0.0
    _refused: tuple[str, ...] = ()
    _states: asyncio.Task[None] | None = None
    _states_command: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.reloader = prometheus.Reloader(self.files)
        self.api = QueryApi(lambda: {**self._google(), "policies": self._google(API_FILE).get("policies", {})})

    def _google(self, name: str = "google.json") -> JsonObject:
        return CloudFile(self.layout.home / "cloud" / name).read()

    @property
    def cloud(self) -> google.Monitored | None:
        """The monitoring that the cluster has enabled; ``None`` for none."""
        return google.monitored(self._google())

    async def run(self) -> None:
        """Keeps files and programs up to date until cancelled."""
        while self.cloud is None:
            await asyncio.sleep(LOOK_SECONDS)
        await collector.install(self.kube)
        for address in (METADATA_SERVER, GOOGLE_APIS):
            await asyncio.to_thread(network.add_local, address)  # pyroute2 has an event loop of its own
        close = self.api.serve(self.layout.google_apis)
        try:
            await self._collect()
        finally:
            close()

    async def _collect(self) -> None:
        log.info("managed Prometheus is enabled: the collectors' account exists")
        async with (
            mirrors(self.kube, POD_MONITORINGS, client.PODS, NETWORK_POLICIES) as (changed, watched),
            asyncio.TaskGroup() as group,
        ):
            await self._step(watched, group)
            log_file = self.layout.log("prometheus")
            group.create_task(daemon.keep(prometheus.command(binaries.path("prometheus"), self.files), log_file))
            while True:
                try:
                    async with asyncio.timeout(LOOK_SECONDS):
                        await changed.wait()
                    await asyncio.sleep(GATHER_SECONDS)
                except TimeoutError:
                    pass
                changed.clear()
                await self._step(watched, group)

    async def _step(self, watched: list[Mirror], group: asyncio.TaskGroup) -> None:
        present = self.cloud
        if present is None:
            return
        monitorings, pods, policies = watched
        made = endpoints(monitorings, pods, policies, collector.CALLER, present.where)
        tokens, unreadable = await self._tokens({one.token for one in made if one.token})
        self.api.show(pods)
        self._keep_states(present.components, group)
        written = self.files.write(made, unreadable, tokens, present.where)
        self._report(made, unreadable.values())
        await self.reloader.step(configuration_changed=written)

    async def _tokens(self, keys: Iterable[SecretKey]) -> tuple[dict[SecretKey, str], dict[SecretKey, str]]:
        """The tokens by key, and the reasons why others cannot be read."""
        tokens: dict[SecretKey, str] = {}
        unreadable: dict[SecretKey, str] = {}
        for key in keys:
            try:
                tokens[key] = await collector.read(await self._collector(), key)
            except collector.UnreadableSecret as reason:
                unreadable[key] = str(reason)
            except (*client.Unreachable, client.KubeError) as error:
                unreadable[key] = f"the API server does not answer the collectors: {error or type(error).__name__}"
                self._as_collector = None
        return tokens, unreadable

    async def _collector(self) -> client.Kube:
        if self._as_collector is None or time.monotonic() - self._signed_in > collector.RENEW_SECONDS:
            server = f"https://{CONTROL_PLANE}"
            self._as_collector = await collector.sign_in(self.kube, self.layout.authority, server)
            self._signed_in = time.monotonic()
        return self._as_collector

    def _keep_states(self, components: frozenset[str], group: asyncio.TaskGroup) -> None:
        """Starts kube-state-metrics, and restarts it when the cluster has other components enabled."""
        command = kube_state.command(binaries.path("kube-state-metrics"), self.layout.kubeconfig, components)
        if command != self._states_command:
            self._states_command = command
            if self._states:
                self._states.cancel()
            self._states = group.create_task(daemon.keep(command, self.layout.log("kube-state-metrics")))

    def _report(self, made: list[ScrapeEndpoint], unreadable: Iterable[str]) -> None:
        """Logs why something is not scraped, once."""
        reasons = {target.refused for endpoint in made for target in endpoint.targets if target.refused}
        refused = tuple(sorted({*reasons, *unreadable}))
        if refused != self._refused:
            self._refused = refused
            for reason in refused or ("all targets are scraped",):
                log.info("%s", reason)


async def serve(layout: Layout) -> None:
    """Runs the daemon until it is cancelled."""
    kube = await client.from_home(layout.home)
    files = PrometheusFiles(layout.root / "monitoring", options.faster() or 1.0)
    files.prepare()
    # Not later: the cluster that has managed Prometheus on is made by the program, which waits for this.
    daemon.ready(layout, "monitoring")
    await Collectors(layout, kube, files).run()


if __name__ == "__main__":
    daemon.run(serve)
