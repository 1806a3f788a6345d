from __future__ import annotations

from typing import Any, cast

import pytest

from llmd_gke.manifests import gateway as edge
from llmd_gke.manifests import naming, routing
from llmd_gke.rules import paths
from llmd_gke.settings import GatewaySettings, ModelSettings
from tests.llmd_gke.manifests.conftest import MakeModel

Rule = dict[str, Any]


def plain(model: ModelSettings) -> Any:
    return routing.route(model, GatewaySettings())


def rules(model: ModelSettings) -> list[Rule]:
    return plain(model)["spec"]["rules"]


def summary(model: ModelSettings) -> list[tuple[list[str], str, str | None]]:
    """Paths, kind of backend, and what the prefix becomes."""
    result: list[tuple[list[str], str, str | None]] = []
    for rule in rules(model):
        (backend,) = rule["backendRefs"]
        filters = rule.get("filters", [])
        rewrite = filters[0]["urlRewrite"]["path"]["replacePrefixMatch"] if filters else None
        result.append(([match["path"]["value"] for match in rule["matches"]], backend["kind"], rewrite))
    return result


def answered_by(model: ModelSettings, path: str) -> tuple[str, str] | None:
    """Kind of backend that gets a request, and the path it sees: the longest prefix of whole segments wins."""
    candidates = [
        (prefix, kind, prefix if rewrite is None else rewrite)
        for prefixes, kind, rewrite in summary(model)
        for prefix in prefixes
        if path == prefix or path.startswith(f"{prefix}/")
    ]
    if not candidates:
        return None
    prefix, kind, becomes = max(candidates, key=lambda one: len(one[0]))
    return kind, becomes + path.removeprefix(prefix)


INFERENCE = ["/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses"]
LISTING = ["/v1/models", "/health"]
CLOSED = [
    "/",
    "/metrics",
    "/tokenize",
    "/docs",
    "/openapi.json",
    "/pause",
    "/invocations",
    "/version",
    "/v1",
    "/v1/score",
    "/v1/load_lora_adapter",
    "/v1/modelsx",
    "/healthz",
    "//metrics",
]


@pytest.mark.parametrize("prefix", ["/models/qwen", ""])
def test_inference_goes_to_the_pool_and_listing_to_the_service(make_model: MakeModel, prefix: str) -> None:
    model = make_model(at_root=True)
    assert {path: answered_by(model, prefix + path) for path in INFERENCE} == {
        path: ("InferencePool", path) for path in INFERENCE
    }
    assert {path: answered_by(model, prefix + path) for path in LISTING} == {
        path: ("Service", path) for path in LISTING
    }
    assert answered_by(model, f"{prefix}/v1/responses/id/cancel") == ("InferencePool", "/v1/responses/id/cancel")


@pytest.mark.parametrize("path", CLOSED)
def test_no_rule_matches_another_path_of_the_server(make_model: MakeModel, path: str) -> None:
    model = make_model(at_root=True)
    assert answered_by(model, f"/models/qwen{path}") is None
    assert answered_by(model, path) is None


def test_a_model_that_is_not_at_the_root_is_served_below_its_own_path_only(model: ModelSettings) -> None:
    paths = [path for matched, _, _ in summary(model) for path in matched]
    assert paths
    assert [path for path in paths if not path.startswith("/models/qwen/")] == []


def test_further_paths_of_the_settings_which_no_picker_parses_go_to_the_service(make_model: MakeModel) -> None:
    model = make_model(at_root=True, paths=("/v1/score", "/tokenize"))
    assert answered_by(model, "/models/qwen/v1/score") == ("Service", "/v1/score")
    assert answered_by(model, "/tokenize") == ("Service", "/tokenize")
    assert answered_by(model, "/metrics") is None


def test_a_rewrite_keeps_the_servers_path_and_never_becomes_the_root(make_model: MakeModel) -> None:
    rules = summary(make_model(at_root=True, paths=("/v1/score",)))
    rewritten = [(matched, rewrite) for matched, _, rewrite in rules if rewrite is not None]
    assert rewritten
    for matched, rewrite in rewritten:
        assert matched == [f"/models/qwen{rewrite}"], "one rewrite for each rule"
        assert rewrite != "/"


@pytest.mark.parametrize(("at_root", "more_paths"), [(False, 10), (True, 8)])
def test_a_route_holds_exactly_as_many_rules_as_are_allowed(
    make_model: MakeModel, at_root: bool, more_paths: int
) -> None:
    more = tuple(f"/v1/more{number}" for number in range(more_paths))
    assert len(rules(make_model(at_root=at_root, paths=more))) == 16
    assert not list(paths.paths(more, at_root=at_root))
    (finding,) = paths.paths((*more, "/v1/one-more"), at_root=at_root)
    assert (finding.rule, finding.severity) == ("route-rules", "error")
    assert f"{more_paths + 1} more paths need 17 rules" in finding.problem


@pytest.mark.parametrize(
    ("exposure", "name"), [("external", "gke-l7-regional-external-managed"), ("internal", "gke-l7-rilb")]
)
def test_the_gateway_is_regional_named_and_closed_to_other_namespaces(exposure: str, name: str) -> None:
    settings = GatewaySettings.model_validate({"exposure": exposure})
    gateway = cast("Any", edge.gateway(settings, "some-address", ["models", "chat"]))
    spec = gateway["spec"]
    assert spec["gatewayClassName"] == name == edge.gateway_class(settings)
    assert spec["addresses"] == [{"type": "NamedAddress", "value": "some-address"}]
    (listener,) = spec["listeners"]
    assert listener["allowedRoutes"]["namespaces"] == {
        "from": "Selector",
        "selector": {
            "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["chat", "models"]}]
        },
    }
    assert gateway["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Programmed"}


def policies(model: ModelSettings, kind: str) -> dict[str, Any]:
    """The specs of a model's policies whose key begins so."""
    every: dict[str, Any] = routing.model_policies(model, GatewaySettings())
    return {key: policy["spec"] for key, policy in every.items() if key.startswith(kind)}


def test_health_checks_ask_what_the_server_answers(model: ModelSettings) -> None:
    checks = policies(model, "health-")
    assert set(checks) == {"health-pool", "health-service"}
    for spec in checks.values():
        assert "group" in spec["targetRef"]
        default = spec["default"]
        assert default["timeoutSec"] <= default["checkIntervalSec"]
        assert default["config"] == {
            "type": "HTTP",
            "httpHealthCheck": {"port": 8000, "portSpecification": "USE_FIXED_PORT", "requestPath": "/health"},
        }


def test_backend_policies_replace_gkes_times_and_say_a_rate_only_where_settings_do(make_model: MakeModel) -> None:
    given = policies(make_model(request_timeout_seconds=900, drain_seconds=600, max_rate_per_endpoint=20), "backend-")
    assert set(given) == {"backend-pool", "backend-service"}
    for spec in given.values():
        assert (spec["default"]["timeoutSec"], spec["default"]["maxRatePerEndpoint"]) == (900, 20)
        assert spec["default"]["connectionDraining"] == {"drainingTimeoutSec": 615}
    assert "maxRatePerEndpoint" not in str(policies(make_model(), "backend-"))


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
    (listener,) = cast("Any", edge.gateway(settings, "some-address", ["models", "chat"]))["spec"]["listeners"]
    assert (listener["name"], listener["protocol"], listener["port"]) == ("https", "HTTPS", 443)
    assert listener["tls"] == {"mode": "Terminate", **termination}
    assert listener["hostname"] == "llm.example.com"
    assert edge.redirect(settings) is None


def test_a_redirecting_port_80_takes_no_route_of_a_model(make_model: MakeModel) -> None:
    settings = GatewaySettings.model_validate(
        {"tls": {"certificate_manager": ["a"]}, "redirect_http": True, "domain": "llm.example.com"}
    )
    https, http = cast("Any", edge.gateway(settings, "some-address", ["models", "chat"]))["spec"]["listeners"]
    assert (http["protocol"], http["port"]) == ("HTTP", 80)
    assert http["allowedRoutes"]["namespaces"] == {"from": "Same"}
    assert https["allowedRoutes"]["namespaces"]["from"] == "Selector"
    redirect = cast("Any", edge.redirect(settings))
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
    assert edge.gateway_policy(GatewaySettings(), None) is None
    policy = cast("Any", edge.gateway_policy(GatewaySettings(allow_global_access=True), "some-policy"))
    assert policy["spec"]["default"] == {"sslPolicy": "some-policy", "allowGlobalAccess": True}
    assert policy["spec"]["targetRef"] == {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": naming.GATEWAY_NAME,
    }
