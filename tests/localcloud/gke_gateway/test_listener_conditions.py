"""Listeners that cannot be served, and Gateways that have them: as the conformance tests that GKE passes ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcloud.gke_gateway import statuses
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.resources.objects import snapshot_of
from localcloud.gke_gateway.translate import Translation, translate
from localcloud.kubernetes.fields import each, get, number, text
from localcloud.providers.protocol.values import JsonObject, JsonValue
from tests.localcloud.gke_gateway import builders as b

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


def test_a_gateway_without_a_listener_of_a_supported_protocol_is_not_accepted(tmp_path: Path) -> None:
    translation = look(tmp_path, b.gateway(listeners=[INVALID]))
    assert translation.program is None
    assert conditions(statuses.gateway_status(translation))["Accepted"] == ("False", "ListenersNotValid")
    listener = listeners(translation)["invalid"]
    assert conditions(listener)["Accepted"] == ("False", "UnsupportedProtocol")
    assert listener["supportedKinds"] == []


def test_one_listener_of_another_protocol_leaves_the_others_serving(tmp_path: Path) -> None:
    translation = look(tmp_path, b.gateway(listeners=[HTTP, INVALID]))
    assert translation.program is not None
    assert list(translation.program.listeners) == ["llm_gateway_80"]
    assert conditions(statuses.gateway_status(translation))["Accepted"] == ("True", "ListenersNotValid")
    by_name = listeners(translation)
    assert conditions(by_name["http"])["Accepted"] == ("True", "Accepted")
    assert conditions(by_name["http"])["Programmed"] == ("True", "Programmed")
    assert conditions(by_name["invalid"])["Accepted"] == ("False", "UnsupportedProtocol")


@pytest.mark.parametrize(
    ("kinds", "supported", "programmed"),
    [
        (["InvalidRoute"], [], ("False", "Invalid")),
        (["InvalidRoute", "HTTPRoute"], ["HTTPRoute"], ("True", "Programmed")),
    ],
)
def test_kinds_of_routes_that_are_not_supported_are_named(
    tmp_path: Path, kinds: list[str], supported: list[str], programmed: tuple[str, str]
) -> None:
    allowed: JsonObject = {"kinds": [{"kind": kind} for kind in kinds]}
    translation = look(tmp_path, b.gateway(listeners=[{**HTTP, "allowedRoutes": allowed}]), b.route("r", b.rule("/")))
    listener = listeners(translation)["http"]
    assert [text(one, "kind") for one in each(listener, "supportedKinds")] == supported
    assert conditions(listener)["ResolvedRefs"] == ("False", "InvalidRouteKinds")
    assert conditions(listener)["Programmed"] == programmed
    assert number(listener, "attachedRoutes") == len(supported)


def test_parameters_of_a_gateway_are_refused(tmp_path: Path) -> None:
    parameters: JsonObject = {"parametersRef": {"group": "invalid.io", "kind": "InvalidParameters", "name": "invalid"}}
    translation = look(tmp_path, b.gateway(infrastructure=parameters))
    status = statuses.gateway_status(translation)
    assert conditions(status)["Accepted"] == ("False", "InvalidParameters")
    assert conditions(listeners(translation)["http"])["Accepted"] == ("True", "Accepted")


@pytest.mark.parametrize("reference", [{"group": "company.io", "kind": "Secret"}, {"group": "", "kind": "WrongKind"}])
def test_a_certificate_is_a_secret(tmp_path: Path, reference: JsonObject) -> None:
    translation = look(tmp_path, https({**reference, "name": "certificate"}))
    listener = listeners(translation)["https"]
    assert conditions(listener)["ResolvedRefs"] == ("False", "InvalidCertificateRef")
    assert conditions(listener)["Programmed"] == ("False", "Invalid")


GRANT: JsonObject = {
    "from": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "llm"}],
    "to": [{"group": "", "kind": "Secret", "name": "certificate"}],
}


@pytest.mark.parametrize(
    ("home", "changed", "reason"),
    [
        # Permitted, and so what is missing is the Secret itself.
        ("web", {}, "InvalidCertificateRef"),
        ("other", {}, "RefNotPermitted"),
        ("web", {"to": [{"group": "", "kind": "Secret", "name": "another"}]}, "RefNotPermitted"),
        ("web", {"from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "llm"}]},
         "RefNotPermitted"),
    ],
)  # fmt: skip
def test_a_certificate_of_another_namespace_needs_a_grant_for_it(
    tmp_path: Path, home: str, changed: JsonObject, reason: str
) -> None:
    grant = b.obj("ReferenceGrant", "grant", {**GRANT, **changed}, metadata={"namespace": home})
    translation = look(tmp_path, https({"name": "certificate", "namespace": "web"}), grant)
    assert conditions(listeners(translation)["https"])["ResolvedRefs"] == ("False", reason)


def test_a_route_of_a_gateway_that_is_rejected_is_told_what_does_not_resolve(tmp_path: Path) -> None:
    route = b.route("r", b.rule("/", b.to_service("gone")))
    translation = look(tmp_path, https({"name": "gone"}), route)
    assert translation.refusal is not None
    (parent,) = statuses.route_parents(route, [translation])
    assert conditions(parent)["ResolvedRefs"] == ("False", "BackendNotFound")
    assert get(listeners(translation)["https"], "attachedRoutes") == 1
