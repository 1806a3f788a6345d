"""The front door in the graph: what a stack with one has, and that others have nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from llmd_gke.catalog import front_door
from llmd_gke.graph.recording import Graph, ResourceNode, load
from llmd_gke.manifests import egress
from llmd_gke.manifests.front_door import firewall
from llmd_gke.pulumi_signatures import is_secret
from llmd_gke.settings import load_stack
from tests.components import kinds, test_resources
from tests.components.conftest import DOOR, ROOT, Record
from tests.components.kinds import metadata, of, spec

ROUTE = f"kubernetes:{front_door.AI_VERSION}:AIGatewayRoute"
SECURITY = f"kubernetes:{front_door.GATEWAY_VERSION}:SecurityPolicy"
TRAFFIC = f"kubernetes:{front_door.GATEWAY_VERSION}:BackendTrafficPolicy"
OBJECTIVE = f"kubernetes:{front_door.OBJECTIVE_VERSION}:InferenceObjective"
ARMOR = "gcp:compute/regionSecurityPolicy:RegionSecurityPolicy"
BACKEND = "kubernetes:networking.gke.io/v1:GCPBackendPolicy"
COMPONENT = "llmd-gke:front-door:FrontDoor"
KEYS = {"team-a": "a" * 40, "batch": "b" * 40}


@pytest.fixture(scope="module", params=[True, False], ids=["preview", "up"])
def graph(request: pytest.FixtureRequest, rehearsal: None) -> Graph:
    return load(ROOT, DOOR, preview=request.param)


@pytest.fixture
def door(record: Record) -> Callable[..., Graph]:
    """A stack with a door, and with changes to its settings."""

    def recorded(**settings: object) -> Graph:
        return record(
            {
                "llmd-gke:gateway": {"exposure": "external", "allowPlainHttp": True},
                "llmd-gke:frontDoor": {"callers": [{"name": "team-a"}, {"name": "batch"}], **settings},
                "llmd-gke:callerKeys": KEYS,
            }
        )

    return recorded


def the(graph: Graph, type_: str, name: str) -> ResourceNode:
    (node,) = [node for node in of(type_)(graph) if metadata(node, "name") == name]
    return node


@pytest.mark.parametrize(
    "holds",
    [
        test_resources.test_no_two_resources_of_a_type_share_a_name,
        test_resources.test_no_two_objects_in_the_cluster_share_kind_namespace_and_name,
        test_resources.test_every_resource_has_a_component_as_its_parent,
        test_resources.test_every_object_in_kubernetes_goes_through_our_provider,
        test_resources.test_everything_in_google_cloud_goes_through_our_provider,
    ],
)
def test_what_holds_for_every_stack_holds_for_this_one(graph: Graph, holds: Callable[[Graph], None]) -> None:
    holds(graph)


@pytest.mark.parametrize("stack", ["eu4a", "prod"])
@pytest.mark.parametrize(
    "holds",
    [
        test_resources.test_no_two_resources_of_a_type_share_a_name,
        test_resources.test_no_two_objects_in_the_cluster_share_kind_namespace_and_name,
        test_resources.test_every_resource_has_a_component_as_its_parent,
        test_resources.test_every_object_in_kubernetes_goes_through_our_provider,
    ],
)
def test_what_holds_for_every_stack_holds_for_those_that_are_shipped_with_a_door(
    rehearsal: None, stack: str, holds: Callable[[Graph], None]
) -> None:
    graph = load(ROOT, stack)
    assert "baseUrl" in graph.outputs
    holds(graph)


def test_types_and_names_are_the_ones_that_stacks_remember(graph: Graph) -> None:
    test_resources.test_types_and_names_are_the_ones_that_stacks_remember(graph, DOOR)


def test_a_door_without_access_leaves_the_load_balancer_as_it_was(graph: Graph) -> None:
    assert not of(ARMOR)(graph)
    default = cast("dict[str, object]", spec(the(graph, BACKEND, "front-door-backend-service"))["default"])
    assert default.keys() == {"timeoutSec", "connectionDraining", "logging"}


@pytest.fixture
def guarded(record: Record) -> Graph:
    """A stack with a door behind address ranges, a throttle and IAP."""
    return record(
        {
            "llmd-gke:gateway": {"exposure": "external", "tls": {"certificateManager": ["llm"]}},
            "llmd-gke:frontDoor": {
                "callers": [{"name": "team-a"}],
                "access": {
                    "ranges": ["192.0.2.0/24"],
                    "requestsPerMinutePerAddress": 60,
                    "iap": {"clientId": "12-ab.apps.googleusercontent.com"},
                },
            },
            "llmd-gke:callerKeys": {"team-a": "a" * 40},
            "llmd-gke:iapClientSecret": "GOCSPX-secret-of-the-client",
        }
    )


def test_the_load_balancer_asks_cloud_armor_and_iap_before_the_first_request(guarded: Graph) -> None:
    (armor,) = of(ARMOR)(guarded)
    assert (armor.inputs["region"], armor.inputs["type"]) == ("europe-west4", "CLOUD_ARMOR")
    policy = the(guarded, BACKEND, "front-door-backend-service")
    default = cast("dict[str, object]", spec(policy)["default"])
    assert default["securityPolicy"] == armor.inputs["name"]
    assert default["iap"] == {
        "enabled": True,
        "clientID": "12-ab.apps.googleusercontent.com",
        "oauth2ClientSecret": {"name": front_door.IAP_SECRET},
    }
    secret = guarded.find(kinds.SECRET, "front-door-iap-client")
    assert metadata(secret, "namespace") == metadata(policy, "namespace") == front_door.PROXIES_NAMESPACE
    (route,) = of(kinds.ROUTE)(guarded)
    for earlier, later in ((armor, policy), (secret, policy), (policy, route)):
        assert guarded.comes_before(earlier, later)


def test_the_oauth_secret_is_only_in_a_secret_and_encrypted(guarded: Graph) -> None:
    secret = guarded.find(kinds.SECRET, "front-door-iap-client")
    assert is_secret(secret.inputs["stringData"]) or is_secret(
        cast("dict[str, object]", secret.inputs["stringData"])[front_door.IAP_SECRET_ENTRY]
    )
    others = [node.inputs for node in guarded.nodes.values() if node is not secret]
    assert "GOCSPX" not in str(others)
    assert "GOCSPX" not in str(guarded.outputs)


def test_the_curl_command_has_a_header_of_its_own_for_the_identity(guarded: Graph) -> None:
    command = cast("dict[str, str]", guarded.outputs)["curl"]
    assert command.endswith('-H "authorization: Bearer $LLM_API_KEY" -H "proxy-authorization: Bearer $IAP_TOKEN"')


def test_a_stack_without_a_door_has_nothing_of_it(record: Record) -> None:
    graph = record()
    assert not [node.name for node in graph.nodes.values() if node.type == COMPONENT or "envoyproxy" in node.type]
    assert "baseUrl" not in graph.outputs
    assert front_door.PROXIES_NAMESPACE not in str([node.inputs for node in graph.nodes.values()])


def test_the_load_balancer_has_one_route_and_admits_no_other_namespace(graph: Graph) -> None:
    (route,) = of(kinds.ROUTE)(graph)
    assert metadata(route, "namespace") == front_door.PROXIES_NAMESPACE
    (rule,) = cast("list[dict[str, object]]", spec(route)["rules"])
    assert rule["matches"] == [{"path": {"type": "PathPrefix", "value": "/v1"}}]
    assert rule["backendRefs"] == [{"kind": "Service", "name": front_door.NAME, "port": 80.0}]
    (listener,) = cast("list[dict[str, object]]", spec(the(graph, kinds.GATEWAY, "inference-gateway"))["listeners"])
    assert str(listener["allowedRoutes"]).count(front_door.PROXIES_NAMESPACE) == 1
    assert "'models'" not in str(listener["allowedRoutes"])


def test_the_route_comes_after_the_envoys_and_everything_that_guards_them(graph: Graph) -> None:
    (route,) = of(kinds.ROUTE)(graph)
    guards = [
        the(graph, SECURITY, "callers"),
        the(graph, TRAFFIC, "limits"),
        graph.find(kinds.SECRET, "front-door-keys"),
    ]
    for earlier in [
        *guards,
        the(graph, kinds.GATEWAY, front_door.NAME),
        the(graph, kinds.GATEWAY, "inference-gateway"),
    ]:
        assert graph.comes_before(earlier, route), earlier.name


def test_the_controllers_come_after_cert_manager_and_their_crds(graph: Graph) -> None:
    crds = [kinds.chart(front_door.CRDS_CHART), kinds.chart(front_door.AI_CRDS_CHART), kinds.chart("cert-manager")]
    for controller in (front_door.GATEWAY_CHART, front_door.AI_GATEWAY_CHART):
        (later,) = kinds.chart(controller)(graph)
        for earlier in crds:
            assert graph.comes_before(earlier(graph)[0], later)


def test_the_door_is_installed_beside_kserve(graph: Graph) -> None:
    """One after the other costs four minutes of a first deployment."""
    kserve = kinds.chart("kserve-llmisvc-crd")(graph) + kinds.chart("kserve-llmisvc-resources")(graph)
    door = [node for node in graph.nodes.values() if node.parent.endswith("FrontDoor::front-door")]
    assert len(kserve) == 2
    assert len(door) > 10
    assert not [(a.name, b.name) for a in kserve for b in door if graph.comes_before(a, b)]


def test_controllers_go_with_the_cluster_and_what_they_finalise_goes_before(graph: Graph) -> None:
    (cluster,) = of(kinds.CLUSTER)(graph)
    charts = [front_door.CRDS_CHART, front_door.AI_CRDS_CHART, front_door.GATEWAY_CHART, front_door.AI_GATEWAY_CHART]
    assert {kinds.chart(name)(graph)[0].deleted_with for name in charts} == {cluster.urn}
    for type_ in (ROUTE, SECURITY, kinds.GATEWAY, kinds.ROUTE):
        assert {node.deleted_with for node in of(type_)(graph)} == {""}


def test_google_keeps_the_crds_of_the_gateway_api(graph: Graph) -> None:
    (release,) = kinds.chart(front_door.GATEWAY_CHART)(graph)
    assert cast("dict[str, object]", release.inputs["values"])["crds"] == {"enabled": False}


def test_every_model_is_served_by_name_before_kserve_looks_for_its_route(graph: Graph) -> None:
    for name, namespace in (("qwen", "models"), ("small", "others")):
        route, service = the(graph, ROUTE, f"{name}-door"), the(graph, kinds.SERVICE, name)
        assert metadata(route, "namespace") == namespace
        values = [
            match["headers"][0]["value"]
            for match in cast("list[dict[str, list[dict[str, str]]]]", _rule(route)["matches"])
        ]
        assert values == [name, f"publishers/{namespace}/models/{name}"]
        assert graph.comes_before(route, service)
        router = cast("dict[str, object]", spec(service)["router"])
        assert router["gateway"] == {"refs": [{"name": "front-door", "namespace": "front-door"}]}
        assert router["route"] == {"http": {"refs": [{"name": f"{name}-door"}]}}


def _rule(route: ResourceNode) -> dict[str, object]:
    (rule,) = cast("list[dict[str, object]]", spec(route)["rules"])
    return rule


def test_the_picker_takes_bodies_of_32_mib(graph: Graph) -> None:
    services = of(kinds.SERVICE)(graph)
    assert services
    for service in services:
        assert "'--grpc-max-recv-msg-size=33554432'" in str(spec(service)["router"])


def test_a_picker_is_ready_soon_after_its_start_because_the_door_needs_it(graph: Graph) -> None:
    routers = [cast("dict[str, Any]", spec(service)["router"]) for service in of(kinds.SERVICE)(graph)]
    probes = [router["scheduler"]["template"]["containers"][0]["readinessProbe"] for router in routers]
    assert probes == [{"initialDelaySeconds": 1, "periodSeconds": 2}] * 2


def test_every_model_reports_the_tokens_of_streams_where_a_budget_counts_them(
    graph: Graph, door: Callable[..., Graph]
) -> None:
    configs = of(kinds.CONFIG)(graph)
    assert len(configs) == 2
    assert all("'--enable-force-include-usage'" in str(config.inputs) for config in configs)
    without = door(callers=[{"name": "team-a", "requestsPerMinute": 5}, {"name": "batch"}])
    assert all("--enable-force-include-usage" not in str(config.inputs) for config in of(kinds.CONFIG)(without))


def test_each_model_has_a_policy_that_names_its_callers_and_is_merged(graph: Graph) -> None:
    policies = {
        str(metadata(node, "name")): node for node in of(SECURITY)(graph) if metadata(node, "name") != "callers"
    }
    assert {name: metadata(node, "namespace") for name, node in policies.items()} == {
        "qwen-door": "models",
        "small-door": "others",
    }
    assert {spec(node)["mergeType"] for node in policies.values()} == {"StrategicMerge"}
    assert "'values': ['team-a', 'batch']" in str(spec(policies["qwen-door"])["authorization"])
    assert "'values': ['team-a']" in str(spec(policies["small-door"])["authorization"])
    for name, policy in policies.items():
        assert graph.comes_before(policy, the(graph, ROUTE, name)), "open to everyone for a moment, otherwise"


def test_priorities_reach_the_picker(graph: Graph) -> None:
    given = {
        (metadata(node, "namespace"), metadata(node, "name")): spec(node)["priority"] for node in of(OBJECTIVE)(graph)
    }
    assert given == {("models", "team-a"): 10, ("models", "batch"): -10, ("others", "team-a"): 10}
    assert all("'featureGates': ['flowControl']" in str(spec(node)) for node in of(kinds.SERVICE)(graph))


def test_without_priorities_the_picker_is_what_it_was(door: Callable[..., Graph]) -> None:
    graph = door()
    assert of(OBJECTIVE)(graph) == []
    assert "featureGates" not in str([spec(node) for node in of(kinds.SERVICE)(graph)])


def test_keys_are_secret_and_in_one_secret_only(door: Callable[..., Graph]) -> None:
    graph = door()
    secret = graph.find(kinds.SECRET, "front-door-keys")
    assert is_secret(secret.inputs["stringData"]), "in plain text in the state, otherwise"
    holders = [node.name for node in graph.nodes.values() if KEYS["team-a"] in str(node)]
    assert holders == [secret.name]
    assert KEYS["team-a"] not in str(graph.outputs)


def test_without_limits_there_is_neither_a_limiter_nor_redis(door: Callable[..., Graph]) -> None:
    graph = door()
    assert "rateLimit" not in str(kinds.chart(front_door.GATEWAY_CHART)(graph)[0].inputs["values"])
    assert "rateLimit" not in spec(the(graph, TRAFFIC, "limits"))
    assert not [node for node in graph.nodes.values() if "redis" in node.name]


def test_every_error_of_the_door_is_json_and_a_models_own_400_and_500_are_passed_on(graph: Graph) -> None:
    overrides = cast("list[dict[str, dict[str, object]]]", spec(the(graph, TRAFFIC, "limits"))["responseOverride"])
    sources: dict[int, object] = {}
    for one in overrides:
        (match,), response = cast("list[object]", one["match"]["statusCodes"]), one["response"]
        assert response["contentType"] == "application/json"
        body = json.loads(cast("dict[str, str]", response["body"])["inline"])
        assert set(body["error"]) == {"message", "type", "param", "code"}
        sources[int(cast("dict[str, float]", match)["value"])] = one.get("source")
    assert {status for status, source in sources.items() if source == "Local"} == {400, 500}
    assert {401, 403, 404, 413, 429, 502, 503, 504} == {status for status, source in sources.items() if source is None}


def test_a_redis_that_exists_is_used(door: Callable[..., Graph]) -> None:
    limited = [{"name": "team-a", "requestsPerMinute": 5}, {"name": "batch"}]
    graph = door(callers=limited, redis="10.1.2.3:6379", whenLimiterIsAway="refuse")
    values = str(kinds.chart(front_door.GATEWAY_CHART)(graph)[0].inputs["values"])
    assert "'url': '10.1.2.3:6379'" in values
    assert "'failClosed': True" in values
    assert not [node for node in graph.nodes.values() if "redis" in node.name]


@pytest.mark.parametrize(
    ("redis", "port", "ranges"),
    [
        ("10.0.0.5:6378", 6378, ["10.0.0.5/32"]),
        ("34.1.2.3:6379", 6379, ["34.1.2.3/32"]),
        ("redis.corp:6380", 6380, list(egress.PRIVATE_RANGES)),
    ],
)
def test_the_limiter_may_reach_the_redis_that_exists(
    door: Callable[..., Graph], redis: str, port: int, ranges: list[str]
) -> None:
    graph = door(callers=[{"name": "team-a", "requestsPerMinute": 5}, {"name": "batch"}], redis=redis)
    policy = graph.find(kinds.NETWORK_POLICY, "front-door-allow-gateway")
    rules = [rule for rule in cast("list[object]", spec(policy)["egress"]) if f"'port': {port}" in str(rule)]
    assert [str(rule).count("'cidr'") for rule in rules] == [len(ranges)]
    assert all(f"'{one}'" in str(rules) for one in ranges)


ISSUER = {
    "issuer": "https://id.example.com",
    "audiences": ["llm"],
    "callerClaim": "team",
    "jwksUri": "https://id.example.com/k",
}


def test_a_claim_is_the_callers_name_as_it_is_and_models_get_no_token(
    door: Callable[..., Graph], record: Record
) -> None:
    """Of a key's name the part before the dot counts; whoever has a claim ``team-a.x`` is not team-a."""
    tokens = {"callers": [{"name": "team-a"}], "identity": ISSUER}
    by_token = record({"llmd-gke:gateway": {"exposure": "internal"}, "llmd-gke:frontDoor": tokens})
    scripts = [
        str(spec(the(graph, f"kubernetes:{front_door.GATEWAY_VERSION}:EnvoyExtensionPolicy", "callers"))["lua"])
        for graph in (door(), by_token)
    ]
    assert [script.count("match(") for script in scripts] == [1, 0]
    assert ['remove("authorization")' in script for script in scripts] == [False, True]


def test_without_network_policies_the_controllers_reach_any_control_plane_and_the_proxies_stay_closed(
    record: Record,
) -> None:
    graph = record(
        {
            "llmd-gke:gateway": {"exposure": "internal"},
            "llmd-gke:frontDoor": {"callers": [{"name": "team-a"}]},
            "llmd-gke:callerKeys": {"team-a": KEYS["team-a"]},
            "llmd-gke:platform": {"networkPolicies": False},
        }
    )
    spaces = (front_door.PROXIES_NAMESPACE, front_door.AI_NAMESPACE)
    guards = [node for node in of(kinds.NETWORK_POLICY)(graph) if metadata(node, "namespace") in spaces]
    assert {node.name for node in guards} == {"front-door-allow-clients", "front-door-allow-collectors"}


def test_limits_are_shared_over_models_and_cost_tokens(graph: Graph) -> None:
    limit = cast("dict[str, dict[str, list[dict[str, object]]]]", spec(the(graph, TRAFFIC, "limits"))["rateLimit"])
    rules = limit["global"]["rules"]
    assert [rule["limit"] for rule in rules] == [
        {"requests": 600, "unit": "Minute"},
        {"requests": 2000000, "unit": "Day"},
        {"requests": 50000000, "unit": "Day"},
    ]
    assert all(rule["shared"] is True for rule in rules)
    assert ["cost" in rule for rule in rules] == [False, True, True]


def test_network_policies_arrive_as_written_and_models_admit_the_envoys_only(graph: Graph) -> None:
    settings = load_stack(ROOT, DOOR).settings
    assert settings.front_door is not None
    written = firewall.policies(
        settings.front_door, settings.network, settings.namespaces, private_nodes=settings.cluster.private_nodes
    )
    arrived = [spec(node) for node in of(kinds.NETWORK_POLICY)(graph)]
    assert [key for key, policy in written.items() if policy["spec"] not in arrived] == []
    for name in ("qwen", "small"):
        for guard in ("workload", "picker"):
            policy = spec(the(graph, kinds.NETWORK_POLICY, f"{name}-{guard}"))
            assert "ipBlock" not in str(policy["ingress"]), "the load balancer would reach the model without a key"
            assert front_door.PROXIES_NAMESPACE in str(policy["ingress"])


def test_old_paths_stay_where_they_are_kept(door: Callable[..., Graph]) -> None:
    graph = door(keepPaths=True)
    assert {str(metadata(node, "name")) for node in of(kinds.ROUTE)(graph)} == {"qwen-route", "front-door"}
    assert "kept-beside-front-door" in str(graph.find(kinds.ROUTE, "qwen-route").inputs["metadata"])
    assert len(of(kinds.HEALTH)(graph)) == 3
    assert "ipBlock" in str(spec(the(graph, kinds.NETWORK_POLICY, "qwen-workload"))["ingress"])


def test_the_outputs_are_what_clients_of_openai_need(record: Record) -> None:
    graph = load(ROOT, DOOR, preview=False)
    base = str(graph.outputs["baseUrl"])
    assert base.endswith("/v1")
    command = str(graph.outputs["curl"]).splitlines()[0]
    assert command.startswith(f"curl {base}/chat/completions ")
    assert command.endswith('-H "authorization: Bearer $LLM_API_KEY"')
    models = cast("dict[str, dict[str, str]]", graph.outputs["models"])
    assert {f"{model['url']}/v1" for model in models.values()} == {base}
    assert json.dumps(graph.outputs).count("rehearsal-dummy") == 0


def test_usage_by_caller_is_collected_unless_nothing_is(graph: Graph, record: Record) -> None:
    scraped = graph.find("kubernetes:monitoring.googleapis.com/v1:PodMonitoring", "front-door-usage")
    assert "'port': 1064" in str(spec(scraped)["endpoints"])
    assert spec(scraped)["selector"] == {"matchLabels": front_door.PROXY_LABELS}
    (admitted,) = [
        node
        for node in of(kinds.NETWORK_POLICY)(graph)
        if kinds.is_in(node, frozenset({front_door.PROXIES_NAMESPACE})) and metadata(node, "name") == "allow-collectors"
    ]
    assert "1064" in str(spec(admitted)["ingress"])
    values = str(kinds.chart(front_door.AI_GATEWAY_CHART)(graph)[0].inputs["values"])
    assert "'metricsRequestHeaderAttributes': 'x-llm-caller:caller'" in values
    silent = record({"llmd-gke:monitoring": {"scrape": False}}, stack=DOOR)
    assert not [node for node in silent.nodes.values() if node.name == "front-door-usage"]


def test_keys_are_checked_before_ai_gateway_reads_a_request(graph: Graph) -> None:
    proxy = graph.find(f"kubernetes:{front_door.GATEWAY_VERSION}:EnvoyProxy", "front-door-proxies")
    assert spec(proxy)["filterOrder"] == [
        {"name": "envoy.filters.http.custom_response", "after": "envoy.filters.http.ratelimit"}
    ], "AI Gateway's filter would be before the keys: /v1/models answered 200 without one"
