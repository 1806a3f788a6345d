from __future__ import annotations

from pathlib import Path

from llmd_common.kubernetes.fields import each, text
from localcloud.gke_gateway import statuses
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.policy_attachment import policy_statuses
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.resources.objects import ClusterSnapshot, snapshot_of
from localcloud.gke_gateway.translate import Translation, translate
from localcloud.providers.protocol.values import JsonObject, JsonValue
from localcloud.tests.gke_gateway import builders as b


def look(snapshot: ClusterSnapshot, folder: Path, gateway_class: str = "gke-l7-rilb") -> Translation:
    return translate(snapshot.all("Gateway")[0], CLASSES[gateway_class], "10.0.0.60", snapshot, EnvoyFiles(folder))


def conditions(entry: JsonValue) -> dict[str, tuple[str, str]]:
    conditions = each(entry, "conditions")
    return {text(one, "type"): (text(one, "status"), text(one, "reason")) for one in conditions}


def namespace(name: str, **labels: str) -> JsonObject:
    return {"kind": "Namespace", "metadata": {"name": name, "labels": dict[str, JsonValue](labels)}}


def test_a_route_whose_backend_is_missing_stays_accepted(tmp_path: Path) -> None:
    gateway, route = b.gateway(), b.route("r", b.rule("/", b.to_pool("qwen")))
    translation = look(snapshot_of(gateway, route), tmp_path)
    assert translation.refusal is None
    assert conditions(statuses.route_parents(route, [translation])[0]) == {
        "Accepted": ("True", "Accepted"),
        "ResolvedRefs": ("False", "BackendNotFound"),
        "Reconciled": ("False", "ReconciliationFailed"),
    }


def test_a_pool_of_the_deprecated_group_does_not_resolve(tmp_path: Path) -> None:
    old: JsonObject = {"group": "inference.networking.x-k8s.io", "kind": "InferencePool", "name": "qwen"}
    gateway, route = b.gateway(), b.route("r", b.rule("/", old))
    translation = look(snapshot_of(gateway, route, b.pool("qwen", 8000), b.service("picker")), tmp_path)
    assert conditions(statuses.route_parents(route, [translation])[0])["ResolvedRefs"] == ("False", "InvalidKind")


def test_statuses_of_other_controllers_stay(tmp_path: Path) -> None:
    other: JsonObject = {"parentRef": {"name": "mesh"}, "controllerName": "example.com/other", "conditions": []}
    route: JsonObject = {**b.route("r", b.rule("/", b.to_service("models"))), "status": {"parents": [other]}}
    translation = look(snapshot_of(b.gateway(), route, b.service("models")), tmp_path)
    parents = statuses.route_parents(route, [translation])
    assert parents[0] == other
    assert len(parents) == 2


def test_what_a_front_door_says_of_a_pool_stays_and_the_placeholder_goes(tmp_path: Path) -> None:
    """Envoy AI Gateway names no controller; without its entry KServe waits forever for a pool that is accepted."""
    door: JsonObject = {"parentRef": {"kind": "Gateway", "name": "front-door"}, "conditions": []}
    placeholder: JsonObject = {"parentRef": {"kind": "Status", "name": "default"}, "conditions": []}
    pool: JsonObject = {**b.pool("qwen", 8000), "status": {"parents": [door, placeholder]}}
    translation = look(snapshot_of(b.gateway(), b.service("models")), tmp_path)
    assert statuses.pool_parents(pool, [translation]) == [door]
    assert statuses.pool_parents(pool, []) == [door]


def test_a_policy_is_attached_once_something_uses_its_target_and_the_oldest_wins(tmp_path: Path) -> None:
    old, new, stray = (b.health_policy("Service", name) for name in ("models", "models", "unused"))
    old["metadata"] = {"name": "old", "namespace": "llm", "creationTimestamp": "2026-01-01T00:00:00Z"}
    new["metadata"] = {"name": "new", "namespace": "llm", "creationTimestamp": "2026-01-02T00:00:00Z"}
    ungrouped = b.health_policy("InferencePool", "models")
    ungrouped["spec"] = {"targetRef": {"group": "", "kind": "InferencePool", "name": "models"}}
    ungrouped["metadata"] = {"name": "ungrouped", "namespace": "llm"}
    route = b.route("r", b.rule("/", b.to_service("models")))
    snapshot = snapshot_of(b.gateway(), route, b.service("models"), old, new, stray, ungrouped)
    statuses = policy_statuses(snapshot, [look(snapshot, tmp_path)])
    assert {text(policy, "metadata", "name"): conditions(status)["Attached"][0] for policy, status in statuses} == {
        "old": "True",
        "new": "False",
        "unused-health": "False",
        "ungrouped": "False",
    }
