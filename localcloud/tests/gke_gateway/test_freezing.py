"""One refused route stops every change of its Gateway, until it is gone."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

from llmd_common.kubernetes.fields import each, get, text
from localcloud.gke_gateway import statuses
from localcloud.gke_gateway.applied_config import Store, without_secrets, write_programs
from localcloud.gke_gateway.controller import Controller
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.resources.endpoints import endpoints
from localcloud.gke_gateway.resources.objects import ClusterSnapshot, snapshot_of
from localcloud.gke_gateway.translate import Translation, translate
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.gke_gateway import builders as b
from localcloud.tests.gke_gateway.lab import Lab

GATEWAY = b.gateway()
GOOD = b.route("good", b.rule("/good", b.to_service("models")))
BAD = b.route("bad", b.rule("/bad", b.to_service("models"), timeouts={"request": "0s"}))
NEW = b.route("new", b.rule("/new", b.to_service("models")))
BACKENDS = (b.service("models"), b.endpoint_slice("models", 8000, "10.244.0.1"))


def look(snapshot: ClusterSnapshot, folder: Path) -> Translation:
    gateway = snapshot.all("Gateway")[0]
    return translate(gateway, CLASSES["gke-l7-rilb"], "10.0.0.60", snapshot, EnvoyFiles(folder))


def condition(status: object, kind: str) -> JsonObject:
    conditions = each(status, "conditions")  # pyright: ignore[reportArgumentType]
    return next(entry for entry in conditions if text(entry, "type") == kind)


def test_a_refused_route_leaves_no_program_for_the_gateway(tmp_path: Path) -> None:
    assert look(snapshot_of(GATEWAY, GOOD, *BACKENDS), tmp_path).program is not None
    frozen = look(snapshot_of(GATEWAY, GOOD, BAD, NEW, *BACKENDS), tmp_path)
    assert frozen.program is None


def test_the_refused_route_says_why_and_the_gateway_too(tmp_path: Path) -> None:
    frozen = look(snapshot_of(GATEWAY, GOOD, BAD, *BACKENDS), tmp_path)
    (parent,) = statuses.route_parents(BAD, [frozen])
    accepted = condition(parent, "Accepted")
    assert (accepted["status"], accepted["reason"]) == ("False", "UnsupportedValue")
    assert "GWCER104" in text(accepted, "message")
    status = statuses.gateway_status(frozen)
    programmed = condition(status, "Programmed")
    assert (programmed["status"], programmed["reason"]) == ("False", "Invalid")
    assert "llm/bad" in text(programmed, "message")
    assert get(status, "addresses") == [{"type": "IPAddress", "value": "10.0.0.60"}]


def test_a_good_route_keeps_its_status_and_a_new_one_gets_none_while_frozen(tmp_path: Path) -> None:
    before = statuses.route_parents(GOOD, [look(snapshot_of(GATEWAY, GOOD, *BACKENDS), tmp_path)])
    existing: JsonObject = {**GOOD, "status": {"parents": before}}
    frozen = look(snapshot_of(GATEWAY, existing, BAD, NEW, *BACKENDS), tmp_path)
    assert statuses.route_parents(existing, [frozen]) == before
    assert statuses.route_parents(NEW, [frozen]) == []


def test_endpoints_follow_the_pods_while_the_gateway_is_frozen(tmp_path: Path) -> None:
    program = look(snapshot_of(GATEWAY, GOOD, *BACKENDS), tmp_path).program
    assert program is not None
    (source,) = program.sources.values()
    moved = snapshot_of(GATEWAY, GOOD, BAD, BACKENDS[0], b.endpoint_slice("models", 8000, "10.244.0.2"))
    assert [endpoint.address for endpoint in endpoints(source, moved)] == ["10.244.0.2"]


def test_what_a_gateway_was_programmed_with_outlives_the_controller(tmp_path: Path) -> None:
    program = look(snapshot_of(GATEWAY, GOOD, *BACKENDS), tmp_path / "envoy").program
    assert program is not None
    store = Store(tmp_path / "programs")
    store.save(("llm", "gateway"), program)
    assert Store(tmp_path / "programs").load() == {("llm", "gateway"): without_secrets(program)}
    store.drop(("llm", "gateway"))
    assert store.load() == {}


def test_writing_the_same_program_again_changes_no_file(tmp_path: Path) -> None:
    snapshot = snapshot_of(GATEWAY, GOOD, *BACKENDS)
    program = look(snapshot, tmp_path).program
    assert program is not None
    assert write_programs({("llm", "gateway"): program}, snapshot, EnvoyFiles(tmp_path))
    assert not write_programs({("llm", "gateway"): program}, snapshot, EnvoyFiles(tmp_path))
    assert write_programs({}, snapshot, EnvoyFiles(tmp_path))
    assert list(EnvoyFiles(tmp_path).endpoints.iterdir()) == []


def test_a_gateway_is_served_at_an_address_that_comes_later(lab: Lab) -> None:
    """As when a cluster that was stopped starts again: Envoy is there before the controller."""
    lab.address = "203.0.113.77"
    lab.apply(b.gateway(port=lab.port), GOOD, *BACKENDS)
    assert lab.rejected() == {}


def test_a_second_look_at_an_unchanged_gateway_writes_the_same_status(tmp_path: Path) -> None:
    first = look(snapshot_of(GATEWAY, GOOD, *BACKENDS), tmp_path)
    status = statuses.gateway_status(first)
    for entry in (*each(status, "conditions"), *each(each(status, "listeners")[0], "conditions")):
        entry["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    again = look(snapshot_of({**GATEWAY, "status": status}, GOOD, *BACKENDS), tmp_path)
    assert statuses.gateway_status(again) == status


def test_a_successor_of_the_same_name_does_not_inherit_what_was_programmed(tmp_path: Path) -> None:
    program = look(snapshot_of(GATEWAY, GOOD, *BACKENDS), tmp_path).program
    assert program is not None
    controller = Controller(Mock(), Mock(), EnvoyFiles(tmp_path), Store(tmp_path / "programs"), Mock())
    controller._take([look(snapshot_of(GATEWAY, GOOD, *BACKENDS), tmp_path)])
    assert set(controller.programs) == {("llm", "gateway")}
    successor = b.gateway()
    successor["metadata"] = {"name": "gateway", "namespace": "llm", "uid": "another"}
    controller._take([look(snapshot_of(successor, GOOD, BAD, *BACKENDS), tmp_path)])
    assert controller.programs == {}
    assert controller.store.load() == {}
