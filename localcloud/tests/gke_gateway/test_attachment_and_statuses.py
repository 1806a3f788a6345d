from __future__ import annotations

from pathlib import Path

from llmd_common.kubernetes.fields import each, text
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.policy_attachment import policy_statuses
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.statuses import pool_parents, route_parents
from localcloud.gke_gateway.translate import translate
from localcloud.product import INFERENCE_POOL_GROUP
from localcloud.providers.protocol.values import JsonObject, JsonValue
from localcloud.tests.gke_gateway import builders as b


def test_a_policy_is_attached_once_something_uses_its_target_and_the_oldest_wins(tmp_path: Path) -> None:
    old, new, stray = (b.health_policy("Service", name) for name in ("models", "models", "unused"))
    old["metadata"] = {"name": "old", "namespace": "llm", "creationTimestamp": "2026-01-01T00:00:00Z"}
    new["metadata"] = {"name": "new", "namespace": "llm", "creationTimestamp": "2026-01-02T00:00:00Z"}
    ungrouped = b.health_policy("InferencePool", "models")
    ungrouped["spec"] = {"targetRef": {"group": "", "kind": "InferencePool", "name": "models"}}
    ungrouped["metadata"] = {"name": "ungrouped", "namespace": "llm"}
    route = b.route("r", b.rule("/", b.to_service("models")))
    gateway = b.gateway()
    snapshot = b.snapshot_of(gateway, route, b.service("models"), old, new, stray, ungrouped)
    translation = translate(gateway, CLASSES["gke-l7-rilb"], "10.0.0.60", snapshot, EnvoyFiles(tmp_path))
    attached = {
        text(policy, "metadata", "name"): text(condition, "status")
        for policy, status in policy_statuses(snapshot, [translation])
        for condition in each(status, "conditions")
        if text(condition, "type") == "Attached"
    }
    assert attached == {
        "old": "True",
        "new": "False",
        "unused-health": "False",
        "ungrouped": "False",
    }


def test_a_controller_that_puts_its_entry_last_has_nothing_to_change(tmp_path: Path) -> None:
    """As Istio's does, which otherwise rewrites a route's or a pool's status for good, and this controller too."""
    gateway, pool = b.gateway(), b.obj("InferencePool", "models")
    to_pool = b.to_service("models", group=INFERENCE_POOL_GROUP, kind="InferencePool")
    route = b.route("r", b.rule("/", to_pool))
    snapshot = b.snapshot_of(gateway, route, pool)
    translation = translate(gateway, CLASSES["gke-l7-rilb"], "10.0.0.60", snapshot, EnvoyFiles(tmp_path))
    for parents_of, one in ((route_parents, route), (pool_parents, pool)):
        [own] = parents_of(one, [translation])
        other: JsonObject = {"parentRef": {"name": "other"}, "controllerName": "istio.io/gateway-controller"}
        for written in ([own, other], [other, own]):
            one["status"] = {"parents": list[JsonValue](written)}
            assert parents_of(one, [translation]) == written
            assert parents_of(one, []) == [other]
