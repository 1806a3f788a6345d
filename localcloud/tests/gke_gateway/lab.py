"""A real Envoy on what the gateway's code writes for some objects."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx

from llmd_common.kubernetes.fields import key, text
from localcloud.gke_gateway.applied_config import write_programs
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.envoy.process import Envoy
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.resources.objects import ClusterSnapshot
from localcloud.gke_gateway.translate import GatewayProgram, translate
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.gke_gateway import builders as b
from localcloud.tests.gke_gateway.servers import free_port
from tests.waiting import eventually

ADDRESS = "127.0.0.1"


class Lab:
    """Applies objects to the Envoy; `client` sends requests to the Gateway's port."""

    def __init__(self, folder: Path) -> None:
        self.port, self.admin_port = free_port(), free_port()
        self.address = ADDRESS
        self.programs: dict[tuple[str, str], GatewayProgram] = {}
        self.files = EnvoyFiles(folder / "envoy")
        self.envoy = Envoy(self.files, admin_port=self.admin_port, concurrency=1)
        self.admin = httpx.Client(base_url=f"http://127.0.0.1:{self.admin_port}", trust_env=False)
        self.client = httpx.Client(base_url=f"http://{ADDRESS}:{self.port}", trust_env=False, timeout=20)

    def apply(self, *objects: JsonObject) -> ClusterSnapshot:
        """Programs the Envoy with these objects, as the controller does. Fails on a refusal, ours or Envoy's."""
        snapshot = b.snapshot_of(*objects)
        programs = self.programs
        for gateway in snapshot.all("Gateway"):
            gateway_class = CLASSES[text(gateway, "spec", "gatewayClassName")]
            translation = translate(gateway, gateway_class, self.address, snapshot, self.files)
            assert translation.refusal is None
            assert translation.program is not None
            programs[key(gateway)] = translation.program
        before = self._updates()
        changed = write_programs(programs, snapshot, self.files)
        if changed:
            eventually(lambda: self._updates() > before)
        assert self.rejected() == {}
        return snapshot

    def _updates(self) -> int:
        return sum(count for name, count in self.stats("update_success").items() if "." in name)

    def stats(self, wanted: str) -> dict[str, int]:
        lines = self.admin.get("/stats", params={"filter": wanted}).text.splitlines()
        return {name: int(value) for name, _, value in (line.partition(": ") for line in lines) if value.isdigit()}

    def rejected(self) -> dict[str, int]:
        return {name: count for name, count in self.stats("update_rejected").items() if count}

    def healthy(self, cluster: str) -> list[str]:
        """The endpoints of the cluster (part of its name) that pass their health checks."""
        states = self.admin.get("/clusters", params={"format": "json"}).json()["cluster_statuses"]
        return [
            f"{host['address']['socket_address']['address']}:{host['address']['socket_address']['port_value']}"
            for state in states
            if cluster in state["name"]
            for host in state.get("host_statuses", [])
            if set(host["health_status"]) == {"eds_health_status"}
        ]

    def await_healthy(self, cluster: str) -> None:
        eventually(lambda: len(self.healthy(cluster)) == 1)


@contextmanager
def running(folder: Path) -> Generator[Lab]:
    lab = Lab(folder)
    lab.envoy.prepare()
    with (
        (folder / "envoy.log").open("w") as log,
        subprocess.Popen(lab.envoy.command, stdout=log, stderr=log) as process,
    ):
        try:
            eventually(lambda: _is_ready(lab, process))
            yield lab
        finally:
            process.terminate()
            lab.admin.close()
            lab.client.close()


def _is_ready(lab: Lab, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, (lab.files.root.parent / "envoy.log").read_text()
    try:
        return lab.admin.get("/ready").is_success
    except httpx.TransportError:
        return False
