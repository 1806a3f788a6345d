"""An emulator without sockets, and short words for requests."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from localcloud.google_api.core import cloud
from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.server import Emulator, contents

Props = dict[str, Any]
COMPUTE = "compute.googleapis.com/compute/v1/projects/my-project"
REGION, VPC = f"{COMPUTE}/regions/us-east5", "projects/my-project/global/networks/vpc"
GKE = "container.googleapis.com/v1/projects/my-project/locations/us-east5"
CLUSTER: Props = {
    "name": "gke",
    "network": "vpc",
    "subnetwork": "nodes",
    "initialNodeCount": 1,
    "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "useIpAliases": True},
}
POOL: Props = {
    "name": "tpu",
    "initialNodeCount": 1,
    "locations": ["us-east5-b"],
    "config": {"machineType": "ct6e-standard-4t", "diskType": "hyperdisk-balanced"},
}


class Client:
    """Sends requests, and says what came back."""

    def __init__(self, folder: Path) -> None:
        self.cloud = EmulatedCloud(folder)
        self.emulator = Emulator(self.cloud)

    def answer(self, http: str, path: str, body: Props | None = None, **query: str) -> tuple[int, Props]:
        return self.emulator.answer(http, path, query, body or {})

    def ok(self, http: str, path: str, body: Props | None = None, **query: str) -> Props:
        status, answer = self.answer(http, path, body, **query)
        assert status in (200, 204), answer
        return answer

    def refused(self, http: str, path: str, body: Props | None = None, **query: str) -> tuple[int, str, str]:
        """Status, reason and message of an error."""
        status, answer = self.answer(http, path, body, **query)
        assert status >= 400, answer
        error = answer["error"]
        assert (error["code"], error["errors"][0]["message"]) == (status, error["message"])
        return status, error["errors"][0]["reason"], error["message"]

    def faults(self, *faults: Props) -> None:
        with self.cloud.opened():
            self.cloud.faults.set(faults)

    def seen(self) -> Props:
        self.cloud.look()
        return contents(self.cloud)


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """The present moves on, for the emulator and the rules."""
    present = time.time()
    monkeypatch.setattr(cloud.time, "time", lambda: present + seconds)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """A project with every API."""
    made = Client(tmp_path)
    made.faults({"fault": "world", "enabledApis": ["*"]})
    return made


@pytest.fixture
def network(client: Client) -> Client:
    """With a network and a subnet."""
    client.ok("POST", f"{COMPUTE}/global/networks", {"name": "vpc", "autoCreateSubnetworks": False})
    subnet = {
        "name": "nodes",
        "network": "projects/my-project/global/networks/vpc",
        "ipCidrRange": "10.0.0.0/20",
        "secondaryIpRanges": [{"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"}],
    }
    client.ok("POST", f"{COMPUTE}/regions/us-east5/subnetworks", subnet)
    return client


@pytest.fixture
def cluster(network: Client) -> Client:
    """With a cluster in it."""
    network.ok("POST", f"{GKE}/clusters", {"cluster": CLUSTER})
    return network
