"""Wires the pure parts: snapshot in, Envoy's files and statuses out, again after every change."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from llmd_common.kubernetes.client import Conflict, Kube, KubeError, NotFound, Unreachable
from llmd_common.kubernetes.fields import Key, Object, being_deleted, each, key, name, namespace, part, text, uid
from localcloud.gke_gateway import statuses
from localcloud.gke_gateway.addresses import address_of
from localcloud.gke_gateway.applied_config import Store, drained_endpoints, write_programs
from localcloud.gke_gateway.draining import Draining
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.events import Events
from localcloud.gke_gateway.policy_attachment import policy_statuses
from localcloud.gke_gateway.resources.classes import CLASSES, CONTROLLER
from localcloud.gke_gateway.resources.objects import (
    GATEWAY,
    GATEWAY_CLASS,
    HTTP_ROUTE,
    POOL,
    RESOURCES,
    ClusterSnapshot,
)
from localcloud.gke_gateway.translate import GatewayProgram, Translation, translate
from localcloud.gke_gateway.watched_objects import Watched
from localcloud.linux_namespaces import network
from localcloud.providers.protocol.values import JsonObject, JsonValue

log = logging.getLogger(__name__)

GATHER_SECONDS = 0.05
"""Seconds to wait after a change for further ones: a rollout changes several objects."""

FULL_LOOK_SECONDS = 30.0
"""Seconds after which it reconciles without a change, so that statuses that could not be written are retried."""


@dataclass
class Controller:
    """GKE's Gateway controller. :meth:`run` works until it is cancelled."""

    kube: Kube
    watched: Watched
    files: EnvoyFiles
    store: Store
    events: Events
    programs: dict[Key, GatewayProgram] = field(default_factory=dict[Key, GatewayProgram])
    _draining: Draining = field(default_factory=Draining)
    _up: set[str] = field(default_factory=set[str])

    async def run(self) -> None:
        """Reconciles after every change."""
        self.programs = self.store.load()
        await self.watched.synced()
        while True:
            try:
                async with asyncio.timeout(FULL_LOOK_SECONDS):
                    await self.watched.changed.wait()
                await asyncio.sleep(GATHER_SECONDS)
            except TimeoutError:
                pass
            self.watched.changed.clear()
            try:
                await self.reconcile(self.watched.snapshot())
            except (*Unreachable, KubeError) as error:
                log.warning("statuses could not be written: %s", error)
                self.watched.changed.set()
                await asyncio.sleep(1)

    async def reconcile(self, snapshot: ClusterSnapshot) -> None:
        """Programs Envoy with the snapshot, then writes the statuses."""
        translations = self.translations(snapshot)
        self._take(translations)
        for address in {translation.address for translation in translations if translation.address} - self._up:
            # In a thread: pyroute2 runs an event loop of its own.
            await asyncio.to_thread(network.add_local, address)
            self._up.add(address)
        if write_programs(self.programs, snapshot, self.files):
            log.info("programmed: %s", ", ".join("/".join(gateway) for gateway in sorted(self.programs)) or "nothing")
        self._draining.follow(drained_endpoints(self.programs, snapshot))
        await self._write_statuses(translations, snapshot)

    def translations(self, snapshot: ClusterSnapshot) -> list[Translation]:
        """Every Gateway of one of GKE's classes, translated."""
        result: list[Translation] = []
        gateways = [gateway for gateway in snapshot.all(GATEWAY) if not being_deleted(gateway)]
        taken = {text(one, "value") for gateway in gateways for one in each(gateway, "status", "addresses")}
        for gateway in gateways:
            if gateway_class := CLASSES.get(text(gateway, "spec", "gatewayClassName")):
                address = address_of(gateway, gateway_class, dict(snapshot.addresses), taken)
                taken.add(address)
                result.append(translate(gateway, gateway_class, address, snapshot, self.files))
        return result

    def _take(self, translations: list[Translation]) -> None:
        """Stores new programs; keeps those of rejected Gateways, and removes those of deleted ones."""
        for translation in translations:
            gateway = key(translation.gateway)
            if translation.program is not None:
                if self.programs.get(gateway) != translation.program:
                    self.store.save(gateway, translation.program)
                self.programs[gateway] = translation.program
        present = {(key(one.gateway), uid(one.gateway)) for one in translations}
        for gateway in [key_ for key_, program in self.programs.items() if (key_, program.uid) not in present]:
            del self.programs[gateway]
            self.store.drop(gateway)

    async def _write_statuses(self, translations: list[Translation], snapshot: ClusterSnapshot) -> None:
        for gateway_class in snapshot.all(GATEWAY_CLASS):
            if text(gateway_class, "spec", "controllerName") == CONTROLLER:
                await self.write_status(GATEWAY_CLASS, gateway_class, statuses.class_status(gateway_class))
        for translation in translations:
            await self.write_status(GATEWAY, translation.gateway, statuses.gateway_status(translation))
            await self.events.record_events(translation)
        for kind, parents in ((HTTP_ROUTE, statuses.route_parents), (POOL, statuses.pool_parents)):
            for obj in snapshot.all(kind):
                wanted = parents(obj, translations)
                if wanted or each(obj, "status", "parents"):
                    await self.write_status(kind, obj, {"parents": wanted})
        for policy, status in policy_statuses(snapshot, translations):
            await self.write_status(text(policy, "kind"), policy, status)

    async def write_status(self, kind: str, obj: JsonObject, wanted: Mapping[str, JsonValue]) -> None:
        """Writes the parts of a status that differ from the current one, unless the object has changed since.

        A pool's and a route's parents are one list of several controllers: written whole from an older look, it would
        lose what another one has added meanwhile.
        """
        present = part(obj, "status")
        if all(present.get(field_) == value for field_, value in wanted.items()):
            return
        try:
            written = await self.kube.patch_status(
                RESOURCES[kind],
                name(obj),
                cast("Object", dict(wanted)),
                namespace(obj) or None,
                version=text(obj, "metadata", "resourceVersion"),
            )
        except (NotFound, Conflict):
            return  # deleted or changed meanwhile: the watch reports it
        self.watched.kinds[kind].put(written)
