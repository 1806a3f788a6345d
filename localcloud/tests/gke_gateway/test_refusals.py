from __future__ import annotations

from pathlib import Path

import pytest

from llmd_gke.manifests import routing
from llmd_gke.settings import GatewaySettings, ModelSettings
from localcloud.gke_gateway.envoy.files import EnvoyFiles
from localcloud.gke_gateway.refusals import gateway_refusal, route_refusal
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.resources.objects import snapshot_of
from localcloud.gke_gateway.translate import translate
from localcloud.providers.protocol.values import JsonObject, JsonValue
from localcloud.tests.gke_gateway import builders as b

REGIONAL = CLASSES["gke-l7-regional-external-managed"]
CLASSIC = CLASSES["gke-l7-gxlb"]
BACKEND = b.to_service("models")
MIRROR: JsonObject = {"type": "RequestMirror", "requestMirror": {"backendRef": BACKEND}}

REFUSED: dict[str, tuple[JsonObject, str]] = {
    "timeouts": (b.rule("/", BACKEND, timeouts={"request": "0s"}), "Timeouts are not supported"),
    "retry": (b.rule("/", BACKEND, retry={"attempts": 3}), "Retry"),
    "regular expression": (
        {"matches": [{"path": {"type": "RegularExpression", "value": "^/.*$"}}], "backendRefs": [BACKEND]},
        "Paths must start with a '/' character \"^/.*$\"",
    ),
    "method": ({"matches": [{"method": "POST"}], "backendRefs": [BACKEND]}, "Method"),
    "whole path": (
        b.rule(
            "/",
            BACKEND,
            filters=[
                {"type": "URLRewrite", "urlRewrite": {"path": {"type": "ReplaceFullPath", "replaceFullPath": "/x"}}}
            ],
        ),
        "ReplaceFullPath",
    ),
    "port in a redirect": (
        {"filters": [{"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "port": 443}}]},
        "Port in a RequestRedirect",
    ),
    "redirect 308": (
        {"filters": [{"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 308}}]},
        "308",
    ),
    "two mirrors": (
        b.rule("/", BACKEND, filters=[MIRROR, MIRROR]),
        "More than one RequestMirror",
    ),
    "filter of a backend": (
        b.rule("/", {**BACKEND, "filters": [{"type": "RequestHeaderModifier", "requestHeaderModifier": {}}]}),
        "Filters in backendRefs",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_route_is_refused_with_the_code_and_its_name(case: str) -> None:
    rule, error = REFUSED[case]
    refusal = route_refusal(b.route("broken", b.rule("/fine", BACKEND), rule), REGIONAL)
    assert refusal is not None
    assert refusal.reason == "UnsupportedValue"
    assert refusal.message.startswith('Error GWCER104: HTTPRoute "llm/broken" is misconfigured, err: ')
    assert error in refusal.message


def test_a_port_in_the_reference_to_the_gateway_is_refused() -> None:
    route = b.route("port", b.rule("/", BACKEND), parentRefs=[{"name": "gateway", "port": 80}])
    refusal = route_refusal(route, REGIONAL)
    assert refusal is not None
    assert "Port in a parentRef" in refusal.message


def test_the_words_for_timeouts_are_those_of_gke() -> None:
    refusal = route_refusal(b.route("py-api-route", b.rule("/", BACKEND, timeouts={"request": "600s"})), REGIONAL)
    assert refusal is not None
    assert (
        refusal.message
        == 'Error GWCER104: HTTPRoute "llm/py-api-route" is misconfigured, err: Timeouts are not supported.'
    )


def test_only_the_classic_load_balancer_refuses_filters() -> None:
    route = b.route("filtered", b.rule("/a", BACKEND, filters=[b.rewrite("/")]))
    assert route_refusal(route, REGIONAL) is None
    refusal = route_refusal(route, CLASSIC)
    assert refusal is not None
    assert "classic GXLB" in refusal.message


@pytest.mark.parametrize("at_root", [False, True])
def test_the_routes_of_our_program_are_not_refused(at_root: bool) -> None:
    model = ModelSettings.model_validate({"name": "qwen", "uri": "hf://a/b", "pool": "v6e4", "atRoot": at_root})
    route = routing.route(model, GatewaySettings())
    assert route_refusal(route, REGIONAL) is None  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ({"type": "IPAddress", "value": "10.0.0.9"}, 'unsupported address type "IPAddress", only "NamedAddress"'),
        ({"value": "10.0.0.9"}, 'unsupported address type "IPAddress"'),
        ({"type": "NamedAddress", "value": "gone"}, 'address "gone" does not exist'),
        ({"type": "NamedAddress", "value": "there"}, None),
    ],
)
def test_an_address_must_be_named_and_exist(address: JsonValue, error: str | None) -> None:
    refusal = gateway_refusal(b.gateway(addresses=[address]), snapshot_of(addresses={"there": "203.0.113.7"}))
    if error is None:
        assert refusal is None
    else:
        assert refusal is not None
        assert refusal.message.startswith('Error GWCER106: Gateway "llm/gateway" is invalid, err: ')
        assert error in refusal.message


def test_a_missing_secret_stops_the_whole_gateway(tmp_path: Path) -> None:
    tls: JsonObject = {"mode": "Terminate", "certificateRefs": [{"name": "certificate"}]}
    gateway = b.gateway(listeners=[{"name": "https", "port": 443, "protocol": "HTTPS", "tls": tls}])
    result = translate(gateway, REGIONAL, "127.0.0.1", snapshot_of(gateway), EnvoyFiles(tmp_path))
    assert result.refusal is not None
    assert result.refusal.message == "Error GWCER102: Secret llm/certificate not found."
    assert result.program is None
