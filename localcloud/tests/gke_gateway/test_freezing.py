"""What a Gateway was programmed with, and an address that comes later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from localcloud.gke_gateway.applied_config import Store
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.resources.objects import ClusterSnapshot
from localcloud.gke_gateway.translate import Translation, translate
from localcloud.tests.gke_gateway import builders as b
from localcloud.tests.gke_gateway.lab import Lab

GATEWAY = b.gateway()
GOOD = b.route("good", b.rule("/good", b.to_service("models")))
BACKENDS = (b.service("models"), b.endpoint_slice("models", 8000, "10.244.0.1"))


def look(snapshot: ClusterSnapshot, folder: Path) -> Translation:
    gateway = snapshot.all("Gateway")[0]
    return translate(gateway, CLASSES["gke-l7-rilb"], "10.0.0.60", snapshot, EnvoyFiles(folder))


def test_what_a_gateway_was_programmed_with_outlives_the_controller_and_no_key_is_kept(tmp_path: Path) -> None:
    program = look(b.snapshot_of(GATEWAY, GOOD, *BACKENDS), tmp_path / "envoy").program
    assert program is not None
    store = Store(tmp_path / "accepted")
    store.save(("llm", "gateway"), replace(program, secrets={"certificate": {"private_key": "SECRET"}}))
    assert Store(tmp_path / "accepted").load() == {("llm", "gateway"): replace(program, secrets={"certificate": {}})}
    assert not [file for file in tmp_path.rglob("*.json") if "SECRET" in file.read_text()]
    store.drop(("llm", "gateway"))
    assert store.load() == {}


def test_a_gateway_is_served_at_an_address_that_comes_later(lab: Lab) -> None:
    """As when a cluster that was stopped starts again: Envoy is there before the controller."""
    lab.address = "203.0.113.77"
    lab.apply(b.gateway(port=lab.port), GOOD, *BACKENDS)
