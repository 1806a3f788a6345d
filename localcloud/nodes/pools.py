"""Node pools of Google's stand-in as nodes of the cluster: created, scaled, deleted."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from llmd_common.kubernetes.cache import Mirror
from llmd_common.kubernetes.client import NODES, Conflict, Kube, KubeError, NotFound, Unreachable
from llmd_common.kubernetes.fields import Object, each, part, text
from localcloud.google_api.core.cloud import API_FILE
from localcloud.google_api.core.faults import out_of_stock, reclaimed
from localcloud.google_api.rules.pools_view import RunningPool, pools
from localcloud.linux_namespaces import network
from localcloud.nodes import autoscaler, compute_classes, nodes
from localcloud.nodes.autoscaler import NodeGroup, Unit
from localcloud.nodes.compute_classes import COMPUTE_CLASSES, Preference
from localcloud.nodes.draining import drain
from localcloud.nodes.events import Recorder
from localcloud.nodes.heartbeats import Heartbeats
from localcloud.nodes.scheduling import NodeCapacity, empty_node, requests_of
from localcloud.nodes.timings import Timings
from localcloud.product import compute_class
from localcloud.providers.protocol.values import JsonObject, objects

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""Seconds between two checks of Google's file and of the clock."""
BACKOFF_SECONDS = 10.0
"""Seconds for which a pool without stock is not scaled up again. The cluster autoscaler begins with five minutes."""
FRESH_SECONDS = 15.0
"""Seconds that the scheduler gets to place a pod before nodes are added, if a new node has free capacity."""


@dataclass
class NodePools:
    """Keeps the cluster's nodes as the pools of ``google.json`` ask for them, and as pending pods need them."""

    kube: Kube
    file: Path
    nodes: Mirror
    pods: Mirror
    recorder: Recorder
    timings: Timings
    heartbeats: Heartbeats
    _version: str = "v1.36.0"
    _leaving: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]])
    _known_pools: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _idle_since: dict[str, float] = field(default_factory=dict[str, float])
    _backoff_until: dict[str, float] = field(default_factory=dict[str, float])

    def ours(self) -> list[Object]:
        """The nodes that belong to a pool of ours."""
        return [one for one in self.nodes if text(one, "metadata", "annotations", nodes.POOL_ANNOTATION)]

    async def run(self) -> None:
        """Keeps the nodes up to date until cancelled."""
        self._version = str((await self.kube.request("GET", "/version/"))["gitVersion"])
        while True:
            try:
                await self._look()
            except (KubeError, *Unreachable) as error:
                log.info("nodes: %s", error)
            except ValueError as error:
                # The file is replaced in one step: a damaged one is not a transient state.
                log.warning("%s: %s", self.file, error)
            await asyncio.sleep(LOOK_SECONDS)

    async def _look(self) -> None:
        there = self._read()
        wanted = {pool.id: pool for pool in there if not pool.failed}
        for one in self.ours():
            pool = wanted.get(_pool_of(one))
            if pool is None or pool.fingerprint != text(one, "metadata", "annotations", nodes.FINGERPRINT_ANNOTATION):
                self._leave(one, "its node pool was deleted or replaced")
        faults = self._faults()
        for pool in wanted.values():
            if reclaimed(faults, pool.id):
                for one in self._of(pool):
                    self._leave(one, "its host was reclaimed", reclaimed=True)
                continue
            await self._size(pool)
        await self._autoscale([pool for pool in wanted.values() if pool.autoscaled])

    def _read(self) -> list[RunningPool]:
        try:
            content = self.file.read_text()
        except FileNotFoundError:
            return []
        return pools(json.loads(content))

    def _faults(self) -> list[JsonObject]:
        """The emulator's faults in force."""
        try:
            return objects(json.loads(self.file.with_name(API_FILE).read_text()), "faults")
        except FileNotFoundError:
            return []

    def _zones_with_stock(self, pool: RunningPool) -> tuple[str, ...]:
        """The pool's zones in which Google has hosts, according to the emulator's faults."""
        faults = self._faults()
        if reclaimed(faults, pool.id):
            return ()
        return tuple(zone for zone in pool.zones if not out_of_stock(faults, zone, pool.capacity))

    def _of(self, pool: RunningPool) -> list[Object]:
        """The nodes of a pool, without those that are being drained."""
        return [one for one in self.ours() if _pool_of(one) == pool.id and one["metadata"]["name"] not in self._leaving]

    async def _size(self, pool: RunningPool) -> None:
        """Keeps a pool between its bounds."""
        present = self._of(pool)
        low, high = pool.minimum * len(pool.zones), pool.maximum * len(pool.zones)
        first = (pool.id, pool.fingerprint) not in self._known_pools
        self._known_pools.add((pool.id, pool.fingerprint))
        goal = min(max(low, pool.initial * len(pool.zones) if first else 0), high)
        if len(present) < goal:
            await self._add(pool, goal - len(present), wait=not first)
        for one in sorted(present, key=_idle_first(self._used()))[: max(len(present) - high, 0)]:
            self._leave(one, "its node pool was made smaller")

    # -- scale up
    # ---------------------------------------------------------------------------------------------------------

    async def _add(self, pool: RunningPool, count: int, *, wait: bool) -> None:
        if wait and self.timings.node_start_seconds:
            await asyncio.sleep(self.timings.node_start_seconds)
        step = max(pool.hosts, 1)
        for _ in range(-(-count // step)):
            zone = self._emptiest_zone(pool)
            slice_name = nodes.name_of(pool)
            for _ in range(min(step, count)):
                await self._register(pool, zone, slice_name if step > 1 else "")

    def _emptiest_zone(self, pool: RunningPool) -> str:
        counted = Counter(text(one, "metadata", "labels", "topology.kubernetes.io/zone") for one in self._of(pool))
        return min(pool.zones, key=lambda zone: (counted[zone], zone))

    async def _register(self, pool: RunningPool, zone: str, slice_name: str) -> None:
        index = nodes.index_for({nodes.index_of(one) for one in self.ours()})
        if index is None:
            log.warning("a laptop cloud has at most %d nodes: pool %s gets none", nodes.MOST_NODES, pool.name)
            return
        name = nodes.name_of(pool)
        await asyncio.to_thread(network.add_local, nodes.address_of(index))
        made = nodes.node(pool, zone, index, name=name, slice_name=slice_name or name, version=self._version)
        try:
            made = await self.kube.create(NODES, made)
        except Conflict:
            return
        # The mirror learns of it a moment later: the next number must not be the same.
        self.nodes.objects.setdefault(("", name), made)
        await self.heartbeats.beat(made)
        self.recorder.record_event(made, "RegisteredNode", f"Node {name} of node pool {pool.name} registered")

    # -- scale down
    # --------------------------------------------------------------------------------------------------------

    def _leave(self, one: Object, why: str, *, reclaimed: bool = False) -> None:
        name = str(one["metadata"]["name"])
        if name not in self._leaving:
            log.info("removing node %s: %s", name, why)
            self.recorder.record_event(one, "RemovingNode", f"Removing node {name}: {why}")
            task = asyncio.create_task(self._drain(one, reclaimed=reclaimed))
            self._leaving[name] = task

    async def _drain(self, one: Object, *, reclaimed: bool) -> None:
        """Drains and removes a node."""
        name = str(one["metadata"]["name"])
        await drain(self.kube, one, self.pods, reclaimed=reclaimed)
        await asyncio.to_thread(network.remove_local, nodes.address_of(nodes.index_of(one)))
        self.nodes.objects.pop(("", name), None)
        self._leaving.pop(name, None)
        self._idle_since.pop(name, None)

    # -- as pods need them --------------------------------------------------------------------------------------------

    def _used(self) -> Counter[str]:
        """By name of the node, the number of pods that keep it from being idle."""
        return Counter(text(pod, "spec", "nodeName") for pod in self.pods if autoscaler.occupies(pod))

    async def _autoscale(self, scaled: list[RunningPool]) -> None:
        pending = [pod for pod in self.pods if autoscaler.unschedulable(pod)]
        by_id = {pool.id: pool for pool in scaled}
        sizes = {pool.id: len(self._of(pool)) for pool in scaled}
        listed = await self._preferences(scaled)
        groups = [
            NodeGroup(
                pool=pool.id,
                name=pool.name,
                size=sizes[pool.id],
                maximum=pool.maximum * len(pool.zones),
                step=max(pool.hosts, 1),
                template=nodes.template(pool, pool.zones[0]),
                in_backoff=self._backoff_until.get(pool.id, 0) > time.monotonic(),
                priority=listed[pool.name].priority if pool.name in listed else 0,
            )
            for pool in scaled
        ]
        if pending:
            settled = [pod for pod in pending if autoscaler.waiting_seconds(pod) > FRESH_SECONDS]
            plan = autoscaler.grow(pending, groups, self._capacities(all_of_them=len(settled) < len(pending)))
            by_uid = {str(pod["metadata"]["uid"]): pod for pod in pending}
            for uid, message in plan.triggered.items():
                self.recorder.record_event(by_uid[uid], "TriggeredScaleUp", message)
            for uid, message in plan.refused.items():
                self.recorder.record_event(by_uid[uid], "NotTriggerScaleUp", message)
            for ident, count in plan.increase.items():
                pool = by_id[ident]
                if zones := self._zones_with_stock(pool):
                    await self._add(replace(pool, zones=zones), count, wait=True)
                    continue
                self._backoff_until[ident] = time.monotonic() + BACKOFF_SECONDS
                for uid in (uid for uid, chosen in plan.pool_for.items() if chosen == ident):
                    self.recorder.record_event(by_uid[uid], "FailedScaleUp", _no_stock(pool), warning=True)
        else:
            in_stock = [pool.id for pool in scaled if self._zones_with_stock(pool)]
            left = None if self._leaving else compute_classes.to_leave(groups, listed, in_stock)
            if left is not None:
                one = min(self._of(by_id[left]), key=_idle_first(self._used()))
                self._leave(one, "an earlier priority of its ComputeClass has hosts again")
            minimum = {pool.id: pool.minimum * len(pool.zones) for pool in scaled}
            for unit in autoscaler.shrink(self._units(scaled), minimum, sizes, self.timings.scale_down_seconds):
                for name in unit.nodes:
                    if one := self.nodes.get(name):
                        self._leave(one, f"idle for {unit.idle_seconds:.0f} s")

    async def _preferences(self, scaled: Iterable[RunningPool]) -> dict[str, Preference]:
        """What ComputeClasses say of the pools; empty if no pool has one, and while the cluster has no such kind."""
        if not any(compute_class.LABEL in pool.labels for pool in scaled):
            return {}
        try:
            return compute_classes.preferences(await self.kube.list(COMPUTE_CLASSES))
        except NotFound:
            return {}

    def _capacities(self, *, all_of_them: bool) -> list[NodeCapacity]:
        """Nodes with what is free there: all, or those alone that have been there for a moment only."""
        capacities: list[NodeCapacity] = []
        for one in self.ours():
            name = str(one["metadata"]["name"])
            if name in self._leaving or one["spec"].get("unschedulable"):
                continue
            if not all_of_them and autoscaler.age_seconds(one["metadata"]["creationTimestamp"]) > FRESH_SECONDS:
                continue
            taints = tuple(
                (str(taint["key"]), text(taint, "value"), str(taint["effect"]))
                for taint in each(one, "spec", "taints")
                if not str(taint["key"]).startswith("node.kubernetes.io/")
            )
            free_node = empty_node(part(one, "metadata", "labels"), taints, part(one, "status", "allocatable"))
            for pod in self.pods:
                if text(pod, "spec", "nodeName") == name and text(pod, "status", "phase") not in (
                    "Succeeded",
                    "Failed",
                ):
                    free_node.take(requests_of(pod))
            capacities.append(free_node)
        return capacities

    def _units(self, scaled: Iterable[RunningPool]) -> list[Unit]:
        used = self._used()
        clock = time.monotonic()
        units: list[Unit] = []
        for pool in scaled:
            slices: dict[str, list[str]] = {}
            for one in self._of(pool):
                name = str(one["metadata"]["name"])
                slices.setdefault(text(one, "metadata", "annotations", nodes.SLICE_ANNOTATION) or name, []).append(name)
                if used[name]:
                    self._idle_since.pop(name, None)
                else:
                    self._idle_since.setdefault(name, clock)
            for names in slices.values():
                idle_seconds = min(clock - self._idle_since.get(name, clock) for name in names)
                units.append(Unit(pool.id, tuple(names), idle_seconds))
        return units


def _pool_of(one: Object) -> str:
    return text(one, "metadata", "annotations", nodes.POOL_ANNOTATION)


def _no_stock(pool: RunningPool) -> str:
    """GKE's text of a stock-out that stops a scale-up.

    https://cloud.google.com/kubernetes-engine/docs/troubleshooting/cluster-autoscaler-scale-up
    """
    return (
        f"Node scale up in zones {', '.join(pool.zones)} associated with this pod failed: GCE out of resources. "
        "Pod is at risk of not being scheduled."
    )


def _idle_first(used: Counter[str]):
    def rank(one: Object) -> tuple[int, str]:
        return used[str(one["metadata"]["name"])], str(one["metadata"]["creationTimestamp"])

    return rank
