"""The emulator of Google's APIs with a project that has everything, and short words to change it."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llmd_gke.settings import StackSettings
from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.server import Emulator, running
from localcloud.providers.protocol.values import JsonObject

PROJECT = "some-project"
ZONE = "europe-west4-a"
COMPUTE = "compute.googleapis.com/compute/v1/projects"
Body = dict[str, Any]


class Holding(Emulator):
    """Answers later what ``hold`` finds in a path, once ``held`` is set. ``asked``: every path at once."""

    hold: str | None = None

    def __init__(self, cloud: EmulatedCloud) -> None:
        super().__init__(cloud)
        self.held = threading.Event()
        self.asked: list[str] = []

    def answer(
        self, http: str, path: str, query: dict[str, str], body: JsonObject, *, token: str = "any"
    ) -> tuple[int, JsonObject]:
        self.asked.append(path)
        if self.hold and re.search(self.hold, path):
            self.held.wait(60)
        return super().answer(http, path, query, body, token=token)


class Google:
    """What the tests say about Google's side. ``url`` is the emulator's address."""

    def __init__(self, cloud: EmulatedCloud, emulator: Holding) -> None:
        self.cloud, self.emulator, self.url = cloud, emulator, cloud.url
        self._conditions: Body = {"enabledApis": ["*"]}
        self._faults: list[Body] = []
        self.conditions()

    def conditions(self, **facts: object) -> None:
        """Facts about the project (``localcloud.google_api.core.faults``)."""
        self._conditions |= facts
        self._set()

    def fails(self, method: str, code: int, message: str = "no", **more: object) -> None:
        self._faults.append({"fault": "error", "method": method, "code": code, "message": message, **more})
        self._set()

    def _set(self) -> None:
        with self.cloud.opened():
            self.cloud.faults.set([*self._faults, {"fault": "world", **self._conditions}])

    def make(self, where: str, body: Body, project: str = PROJECT) -> None:
        """Something that somebody else made: ``where`` is its collection below the project."""
        path = where if where.startswith("container") else f"{COMPUTE}/{project}/{where}"
        status, answer = Emulator.answer(self.emulator, "POST", path, {}, body)
        assert status == 200, answer
        self.cloud.requests.clear()

    def make_network(self, name: str, project: str = PROJECT) -> None:
        self.make("global/networks", {"name": name, "autoCreateSubnetworks": False}, project)

    def make_subnet(self, region: str = "europe-west4") -> None:
        """A subnet in a VPC of its own, as a project has for other things."""
        self.make_network("default")
        network = f"projects/{PROJECT}/global/networks/default"
        subnet = {"name": "default", "network": network, "ipCidrRange": "10.128.0.0/20"}
        self.make(f"regions/{region}/subnetworks", subnet)

    def make_cluster(self, settings: StackSettings) -> None:
        name, region = settings.cluster.name, settings.cluster.region
        if f"projects/{PROJECT}/global/networks/{name}" not in self.cloud.resources:
            self.make_network(name)
        network = f"projects/{PROJECT}/global/networks/{name}"
        second = [{"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"}]
        nodes = {"name": "nodes", "network": network, "ipCidrRange": "10.0.0.0/20", "secondaryIpRanges": second}
        self.make(f"regions/{region}/subnetworks", nodes)
        policy = {"clusterSecondaryRangeName": "pods", "useIpAliases": True}
        cluster = {"name": name, "network": name, "subnetwork": "nodes", "ipAllocationPolicy": policy}
        where = f"container.googleapis.com/v1/projects/{PROJECT}/locations/{settings.cluster.location}/clusters"
        self.make(where, {"cluster": {**cluster, "initialNodeCount": 1}})

    def appears(self, key: str) -> None:
        """A resource that was asked for before is there only now."""
        with self.cloud.opened():
            self.cloud.resources[key] = {}

    @property
    def calls(self) -> list[str]:
        return [str(one["path"]) for one in self.cloud.requests]

    def made(self) -> list[Body]:
        seen: list[Body] = list(self.cloud.requests)
        return [one["body"] for one in seen if one["method"].startswith("compute") and one["method"].endswith("insert")]

    def named(self, collection: str) -> set[str]:
        """Names of what exists of ``instances``, ``networks`` and so on."""
        parts = [key.split("/") for key in self.cloud.resources]
        return {one[-1] for one in parts if one[-2] == collection}


@contextmanager
def emulating(folder: Path) -> Generator[Google]:
    made: list[Holding] = []

    def make(cloud: EmulatedCloud) -> Holding:
        made.append(Holding(cloud))
        return made[0]

    with running(folder, make=make) as cloud:
        try:
            google = Google(cloud, made[0])
            cloud.requests.clear()
            made[0].asked.clear()
            yield google
        finally:
            made[0].held.set()
