"""What is told about the pods behind a gateway, of a real Envoy, and how Compute Engine's API shows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llmd_common.kubernetes.fields import key, text
from localcloud.gke_gateway import health
from localcloud.gke_gateway.applied_config import Store
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.translate import translate
from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.rules.references import CLUSTER
from localcloud.google_api.server import Emulator
from localcloud.tests.gke_gateway import builders as b
from localcloud.tests.gke_gateway.lab import ADDRESS, running
from localcloud.tests.gke_gateway.servers import ModelServer, free_port
from tests.waiting import eventually

REGION = "compute.googleapis.com/compute/v1/projects/p/regions/europe-west4"


def test_pods_are_as_healthy_as_the_gateways_envoy_finds_them(
    tmp_path: Path, serve: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    serve("127.0.1.1", port)
    bad = serve("127.0.1.2", port)
    bad.health = 503
    root = tmp_path / "cluster" / "gateway"
    root.mkdir(parents=True)
    with running(root) as lab:
        snapshot = lab.apply(
            b.gateway(port=lab.port),
            b.route("all", b.rule("/", b.to_service("models"))),
            b.service("models"),
            b.endpoint_slice("models", port, "127.0.1.1", "127.0.1.2"),
            b.health_policy("Service", "models"),
        )
        (gateway,) = snapshot.all("Gateway")
        gateway_class = CLASSES[text(gateway, "spec", "gatewayClassName")]
        program = translate(gateway, gateway_class, ADDRESS, snapshot, lab.files).program
        assert program is not None
        Store(root / "accepted").save(key(gateway), program)

        lab.await_healthy("models")
        eventually(lambda: bad.checked)
        (name,) = health.seen(tmp_path)
        assert "models" in name
        result = health.seen(tmp_path)[name]
        assert sorted((one.address, one.healthy) for one in result) == [("127.0.1.1", True), ("127.0.1.2", False)]
        assert result[0].port == port

        monkeypatch.setenv("LLMD_GKE_CLOUD", "laptop")
        monkeypatch.setenv("LLMD_GKE_HOME", str(tmp_path))
        cloud = EmulatedCloud(tmp_path / "cloud")
        with cloud.state() as cloud_state:
            cloud_state.enable("p", {"compute.googleapis.com"})
            cloud_state.put(CLUSTER, "projects/p/locations/europe-west4/clusters/c", {"inputs": {}})
        (service,) = ask(cloud, "GET", f"{REGION}/backendServices")["items"]
        group = {"group": service["backends"][0]["group"]}
        question = f"{REGION}/backendServices/{service['name']}/getHealth"

        def answered() -> bool:
            states = ask(cloud, "POST", question, group)["healthStatus"]
            return {one["ipAddress"]: one["healthState"] for one in states} == {
                "127.0.1.1": "HEALTHY",
                "127.0.1.2": "UNHEALTHY",
            }

        eventually(answered)  # on a busy machine a check may be too late, and Envoy is right to say so
        other = ask(cloud, "GET", REGION.replace("west4", "west1") + "/backendServices")
        assert other["items"] == [], "the cluster is in another region"
    assert health.seen(tmp_path) == {}, "the gateway has ended"


def ask(cloud: EmulatedCloud, http: str, path: str, body: dict[str, str] | None = None) -> dict[str, Any]:
    status, answer = Emulator(cloud).answer(http, path, {}, dict(body or {}))
    assert status == 200, answer
    return json.loads(json.dumps(answer))
