"""Listeners that cannot be served, and Gateways that have them: as the conformance tests that GKE passes ask for it."""

from __future__ import annotations

from pathlib import Path

from llmd_common.kubernetes.fields import each, get, text
from localcloud.gke_gateway import statuses
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.resources.objects import snapshot_of
from localcloud.gke_gateway.translate import Translation, translate
from localcloud.providers.protocol.values import JsonObject, JsonValue
from localcloud.tests.gke_gateway import builders as b

HTTP: JsonObject = {"name": "http", "port": 80, "protocol": "HTTP"}
INVALID: JsonObject = {"name": "invalid", "port": 1111, "protocol": "INVALID"}


def look(folder: Path, *objects: JsonObject) -> Translation:
    snapshot = snapshot_of(*objects)
    (gateway,) = snapshot.all("Gateway")
    return translate(gateway, CLASSES["gke-l7-rilb"], "10.0.0.60", snapshot, EnvoyFiles(folder))


def conditions(entry: JsonValue) -> dict[str, tuple[str, str]]:
    listed = each(entry, "conditions")
    return {text(one, "type"): (text(one, "status"), text(one, "reason")) for one in listed}


def listeners(translation: Translation) -> dict[str, JsonObject]:
    return {text(one, "name"): one for one in each(statuses.gateway_status(translation), "listeners")}


def https(*references: JsonObject) -> JsonObject:
    tls: JsonObject = {"mode": "Terminate", "certificateRefs": list[JsonValue](references)}
    return b.gateway(listeners=[{"name": "https", "port": 443, "protocol": "HTTPS", "tls": tls}])


def test_a_route_of_a_gateway_that_is_rejected_is_told_what_does_not_resolve(tmp_path: Path) -> None:
    route = b.route("r", b.rule("/", b.to_service("gone")))
    translation = look(tmp_path, https({"name": "gone"}), route)
    assert translation.refusal is not None
    (parent,) = statuses.route_parents(route, [translation])
    assert conditions(parent)["ResolvedRefs"] == ("False", "BackendNotFound")
    assert get(listeners(translation)["https"], "attachedRoutes") == 1
