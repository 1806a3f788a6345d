"""Gateway, HTTPRoute and GKE's policies."""

from __future__ import annotations

from typing import Any, cast

import pytest

from llmd_gke.checks.names import MODEL_NAME_LIMIT
from llmd_gke.manifests import naming, routing
from llmd_gke.settings import GatewaySettings, ModelSettings
from tests.unit.manifests.conftest import MakeModel

Rule = dict[str, Any]


def plain(model: ModelSettings) -> Any:
    return routing.route(model, GatewaySettings())


def rules(model: ModelSettings) -> list[Rule]:
    return plain(model)["spec"]["rules"]


def summary(model: ModelSettings) -> list[tuple[str, str, str | None]]:
    """Path, kind of backend, and what the prefix becomes."""
    found: list[tuple[str, str, str | None]] = []
    for rule in rules(model):
        (match,), (backend,) = rule["matches"], rule["backendRefs"]
        filters = rule.get("filters", [])
        rewrite = filters[0]["urlRewrite"]["path"]["replacePrefixMatch"] if filters else None
        found.append((match["path"]["value"], backend["kind"], rewrite))
    return found


def keys(value: object) -> set[str]:
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        return set(table).union(*(keys(entry) for entry in table.values()))
    return (
        set[str]().union(*(keys(entry) for entry in cast("list[object]", value))) if isinstance(value, list) else set()
    )


def test_inference_goes_to_the_pool_and_listing_to_the_service(model: ModelSettings) -> None:
    assert summary(model) == [
        ("/models/qwen/v1/models", "Service", "/v1/models"),
        ("/models/qwen/health", "Service", "/health"),
        ("/models/qwen", "InferencePool", "/"),
    ]


def test_a_model_at_the_root_is_served_there_as_well(make_model: MakeModel) -> None:
    assert summary(make_model(at_root=True)) == [
        ("/models/qwen/v1/models", "Service", "/v1/models"),
        ("/models/qwen/health", "Service", "/health"),
        ("/models/qwen", "InferencePool", "/"),
        ("/v1/models", "Service", None),
        ("/health", "Service", None),
        ("/", "InferencePool", None),
    ]


@pytest.mark.parametrize("at_root", [True, False])
def test_routes_have_neither_timeouts_nor_rule_names(make_model: MakeModel, at_root: bool) -> None:
    found = rules(make_model(at_root=at_root))
    assert not {"timeouts", "retry", "sessionPersistence"} & keys(found), "GKE refuses the route, then every change"
    assert not any("name" in rule for rule in found)


def test_every_match_is_a_prefix(make_model: MakeModel) -> None:
    matches = [match for rule in rules(make_model(at_root=True)) for match in rule["matches"]]
    assert {match["path"]["type"] for match in matches} == {"PathPrefix"}


def test_the_pool_is_the_v1_one(model: ModelSettings) -> None:
    (backend,) = rules(model)[-1]["backendRefs"]
    assert backend == {
        "group": "inference.networking.k8s.io",
        "kind": "InferencePool",
        "name": "qwen-inference-pool",
    }


def test_a_route_does_not_wait(model: ModelSettings) -> None:
    assert "annotations" not in plain(model)["metadata"], "KServe makes its backends only later"


def test_the_route_is_not_called_as_one_that_kserve_deletes(model: ModelSettings) -> None:
    assert plain(model)["metadata"]["name"] == "qwen-route"


@pytest.mark.parametrize(
    ("exposure", "name"),
    [("external", "gke-l7-regional-external-managed"), ("internal", "gke-l7-rilb")],
)
def test_the_gateway_is_regional_named_and_closed_to_other_namespaces(exposure: str, name: str) -> None:
    settings = GatewaySettings.model_validate({"exposure": exposure})
    gateway = cast("Any", routing.gateway(settings, "some-address"))
    spec = gateway["spec"]
    assert spec["gatewayClassName"] == name == routing.gateway_class(settings)
    assert spec["addresses"] == [{"type": "NamedAddress", "value": "some-address"}]
    (listener,) = spec["listeners"]
    assert listener["allowedRoutes"]["namespaces"] == {
        "from": "Selector",
        "selector": {"matchLabels": {naming.GATEWAY_ACCESS_LABEL: "true"}},
    }
    assert gateway["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Programmed"}


def test_the_gateway_is_internal_unless_settings_say_otherwise() -> None:
    assert routing.gateway_class(GatewaySettings()) == "gke-l7-rilb"


def test_health_checks_ask_what_the_server_answers(model: ModelSettings) -> None:
    found = routing.health_checks(model)
    assert set(found) == {"health-pool", "health-service"}
    for policy in found.values():
        spec = cast("Any", policy)["spec"]
        assert "group" in spec["targetRef"]
        default = spec["default"]
        assert default["timeoutSec"] <= default["checkIntervalSec"]
        assert default["config"] == {
            "type": "HTTP",
            "httpHealthCheck": {"port": 8000, "portSpecification": "USE_FIXED_PORT", "requestPath": "/health"},
        }


def test_backend_policies_replace_gkes_thirty_seconds(make_model: MakeModel) -> None:
    found = routing.backend_policies(make_model(request_timeout_seconds=900))
    assert set(found) == {"backend-pool", "backend-service"}
    assert [cast("Any", policy)["spec"]["default"]["timeoutSec"] for policy in found.values()] == [900, 900]


def test_policies_aim_at_the_same_objects_as_the_route(model: ModelSettings) -> None:
    backends = {(rule["backendRefs"][0]["kind"], rule["backendRefs"][0]["name"]) for rule in rules(model)}
    for policies in (routing.health_checks(model), routing.backend_policies(model)):
        targets = [cast("Any", policy)["spec"]["targetRef"] for policy in policies.values()]
        assert {(target["kind"], target["name"]) for target in targets} == backends


def test_every_name_fits_for_the_longest_model_name(make_model: MakeModel) -> None:
    model = make_model(name="m" * MODEL_NAME_LIMIT)
    things = [
        routing.route(model, GatewaySettings()),
        *routing.health_checks(model).values(),
        *routing.backend_policies(model).values(),
    ]
    names = [cast("Any", thing)["metadata"]["name"] for thing in things]
    names += [naming.inference_pool(model.name), naming.workload_service(model.name), naming.tpu_config(model.name)]
    names += [f"{model.name}-kserve-self-signed-certs", f"{model.name}-kserve-router-scheduler"]
    assert max(map(len, names)) <= 63


CERTIFICATES: list[tuple[dict[str, object], dict[str, object]]] = [
    ({"certificate_manager": ["a", "b"]}, {"options": {"networking.gke.io/cert-manager-certs": "a,b"}}),
    ({"pre_shared_certificates": ["a"]}, {"options": {"networking.gke.io/pre-shared-certs": "a"}}),
    ({"from_config": True}, {"certificateRefs": [{"kind": "Secret", "name": "gateway-certificate"}]}),
]


@pytest.mark.parametrize(("tls", "termination"), CERTIFICATES)
def test_with_a_certificate_the_gateway_serves_https_and_nothing_else(
    tls: dict[str, object], termination: dict[str, object]
) -> None:
    settings = GatewaySettings.model_validate({"tls": tls, "domain": "llm.example.com"})
    (listener,) = cast("Any", routing.gateway(settings, "some-address"))["spec"]["listeners"]
    assert (listener["name"], listener["protocol"], listener["port"]) == ("https", "HTTPS", 443)
    assert listener["tls"] == {"mode": "Terminate", **termination}
    assert listener["hostname"] == "llm.example.com"
    assert routing.redirect(settings) is None


def test_a_redirecting_port_80_takes_no_route_of_a_model(make_model: MakeModel) -> None:
    settings = GatewaySettings.model_validate(
        {"tls": {"certificate_manager": ["a"]}, "redirect_http": True, "domain": "llm.example.com"}
    )
    https, http = cast("Any", routing.gateway(settings, "some-address"))["spec"]["listeners"]
    assert (http["protocol"], http["port"]) == ("HTTP", 80)
    assert http["allowedRoutes"]["namespaces"] == {"from": "Same"}
    assert https["allowedRoutes"]["namespaces"]["from"] == "Selector"
    redirect = cast("Any", routing.redirect(settings))
    assert redirect["spec"]["parentRefs"][0]["sectionName"] == "http"
    assert redirect["spec"]["rules"] == [
        {"filters": [{"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}]}
    ]
    model_route = cast("Any", routing.route(make_model(), settings))["spec"]
    assert [parent["sectionName"] for parent in model_route["parentRefs"]] == ["https"]
    assert model_route["hostnames"] == redirect["spec"]["hostnames"] == ["llm.example.com"]


def test_a_route_names_no_host_unless_the_gateway_has_a_domain(model: ModelSettings) -> None:
    spec = plain(model)["spec"]
    assert "hostnames" not in spec
    assert spec["parentRefs"][0]["sectionName"] == "http"


def test_the_gateway_policy_holds_what_is_wanted_and_is_left_out_otherwise() -> None:
    assert routing.gateway_policy(GatewaySettings(), None) is None
    policy = cast("Any", routing.gateway_policy(GatewaySettings(allow_global_access=True), "some-policy"))
    assert policy["spec"]["default"] == {"sslPolicy": "some-policy", "allowGlobalAccess": True}
    assert policy["spec"]["targetRef"] == {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": naming.GATEWAY_NAME,
    }
