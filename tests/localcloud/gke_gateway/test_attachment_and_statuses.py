from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.gke_gateway import statuses
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.policy_attachment import policy_statuses
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.resources.objects import ClusterSnapshot, snapshot_of
from localcloud.gke_gateway.route_attachment import attachments, hostnames
from localcloud.gke_gateway.translate import Translation, translate
from localcloud.kubernetes.fields import each, text
from localcloud.providers.protocol.values import JsonObject, JsonValue
from tests.localcloud.gke_gateway import builders as b


def look(snapshot: ClusterSnapshot, folder: Path, gateway_class: str = "gke-l7-rilb") -> Translation:
    return translate(snapshot.all("Gateway")[0], CLASSES[gateway_class], "10.0.0.60", snapshot, EnvoyFiles(folder))


def conditions(entry: JsonValue) -> dict[str, tuple[str, str]]:
    conditions = each(entry, "conditions")
    return {text(one, "type"): (text(one, "status"), text(one, "reason")) for one in conditions}


def namespace(name: str, **labels: str) -> JsonObject:
    return {"kind": "Namespace", "metadata": {"name": name, "labels": dict[str, JsonValue](labels)}}


SELECTOR: JsonObject = {"from": "Selector", "selector": {"matchLabels": {"access": "true"}}}


@pytest.mark.parametrize(
    ("namespaces", "home", "labels", "admitted"),
    [
        ({"from": "Same"}, "llm", {}, True),
        ({"from": "Same"}, "other", {}, False),
        ({"from": "All"}, "other", {}, True),
        (SELECTOR, "other", {"access": "true"}, True),
        (SELECTOR, "other", {"access": "false"}, False),
        (SELECTOR, "llm", {}, False),
    ],
)
def test_a_listener_admits_the_namespaces_it_names(
    namespaces: JsonObject, home: str, labels: dict[str, str], admitted: bool
) -> None:
    allowed: JsonObject = {"namespaces": namespaces}
    gateway = b.gateway(listeners=[{"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": allowed}])
    route = b.route("r", b.rule("/"), parentRefs=[{"name": "gateway", "namespace": "llm"}])
    route["metadata"] = {"name": "r", "namespace": home}
    (attachment,) = attachments(gateway, snapshot_of(gateway, route, namespace(home, **labels)))
    assert (bool(attachment.listeners), attachment.problem) == (admitted, "" if admitted else "NotAllowedByListeners")


@pytest.mark.parametrize(
    ("listener", "route", "common"),
    [
        ("", [], [""]),
        ("llm.example.com", [], ["llm.example.com"]),
        ("", ["llm.example.com"], ["llm.example.com"]),
        ("*.example.com", ["llm.example.com", "other.org"], ["llm.example.com"]),
        ("llm.example.com", ["*.example.com"], ["llm.example.com"]),
        ("llm.example.com", ["other.example.com"], []),
    ],
)
def test_hostnames_are_those_that_listener_and_route_share(
    listener: str, route: list[JsonValue], common: list[str]
) -> None:
    spec: JsonObject = {"hostname": listener} if listener else {}
    assert hostnames(spec, b.route("r", **({"hostnames": route} if route else {}))) == common


def test_a_route_of_an_unknown_section_is_told_so() -> None:
    gateway = b.gateway()
    route = b.route("r", b.rule("/"), parentRefs=[{"name": "gateway", "sectionName": "https"}])
    (attachment,) = attachments(gateway, snapshot_of(gateway, route))
    assert (attachment.listeners, attachment.problem) == ((), "NoMatchingParent")


def test_a_route_whose_backend_is_missing_stays_accepted(tmp_path: Path) -> None:
    gateway, route = b.gateway(), b.route("r", b.rule("/", b.to_pool("qwen")))
    translation = look(snapshot_of(gateway, route), tmp_path)
    assert translation.refusal is None
    assert conditions(statuses.route_parents(route, [translation])[0]) == {
        "Accepted": ("True", "Accepted"),
        "ResolvedRefs": ("False", "BackendNotFound"),
        "Reconciled": ("False", "ReconciliationFailed"),
    }


@pytest.mark.parametrize(("called", "permitted"), [("", True), ("models", True), ("others", False)])
def test_a_grant_with_a_name_covers_that_backend_only(tmp_path: Path, called: str, permitted: bool) -> None:
    asker: JsonObject = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "llm"}
    to: JsonObject = {"group": "", "kind": "Service", **({"name": called} if called else {})}
    home: JsonObject = {"namespace": "backends"}
    grant = b.obj("ReferenceGrant", "grant", {"from": [asker], "to": [to]}, metadata=home)
    models: JsonObject = {**b.service("models"), "metadata": {"name": "models", **home}}
    route = b.route("r", b.rule("/", b.to_service("models", namespace="backends")))
    translation = look(snapshot_of(b.gateway(), route, grant, models), tmp_path)
    resolved = conditions(statuses.route_parents(route, [translation])[0])["ResolvedRefs"]
    assert resolved == (("True", "ResolvedRefs") if permitted else ("False", "RefNotPermitted"))


def test_a_pool_of_the_deprecated_group_does_not_resolve(tmp_path: Path) -> None:
    old: JsonObject = {"group": "inference.networking.x-k8s.io", "kind": "InferencePool", "name": "qwen"}
    gateway, route = b.gateway(), b.route("r", b.rule("/", old))
    translation = look(snapshot_of(gateway, route, b.pool("qwen", 8000), b.service("picker")), tmp_path)
    assert conditions(statuses.route_parents(route, [translation])[0])["ResolvedRefs"] == ("False", "InvalidKind")


def test_a_pool_is_accepted_by_each_gateway_that_reaches_it(tmp_path: Path) -> None:
    gateway, route, pool = b.gateway(), b.route("r", b.rule("/", b.to_pool("qwen"))), b.pool("qwen", 8000)
    translation = look(snapshot_of(gateway, route, pool, b.service("picker", port=9002)), tmp_path)
    (parent,) = statuses.pool_parents(pool, [translation])
    assert conditions(parent) == {"Accepted": ("True", "Accepted"), "ResolvedRefs": ("True", "ResolvedRefs")}
    assert statuses.pool_parents(b.pool("other", 8000), [translation]) == []


def test_a_pool_without_its_picker_says_so_and_so_does_the_route(tmp_path: Path) -> None:
    gateway, route, pool = b.gateway(), b.route("r", b.rule("/", b.to_pool("qwen"))), b.pool("qwen", 8000)
    translation = look(snapshot_of(gateway, route, pool), tmp_path)
    assert conditions(statuses.pool_parents(pool, [translation])[0])["ResolvedRefs"] == (
        "False",
        "InvalidExtensionRef",
    )
    assert conditions(statuses.route_parents(route, [translation])[0])["ResolvedRefs"][1] == "BackendNotFound"


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
