"""The door's policies as clients meet them: what they may not send, who they are, what they may use, what they get."""

from __future__ import annotations

import json
from typing import Any, cast

from llmd_gke.catalog import front_door
from llmd_gke.graph.recording import Graph
from llmd_gke.rules.environment import KEEP_ALIVE_SECONDS
from tests.components import kinds
from tests.components.conftest import Record
from tests.components.front_door.support import ROUTE, SECURITY, TRAFFIC, the
from tests.components.kinds import metadata, of, spec
from tests.components.variants import variant

CLIENTS = f"kubernetes:{front_door.GATEWAY_VERSION}:ClientTrafficPolicy"
PROXY = f"kubernetes:{front_door.GATEWAY_VERSION}:EnvoyProxy"
SCRIPT = f"kubernetes:{front_door.GATEWAY_VERSION}:EnvoyExtensionPolicy"


def test_a_client_can_set_no_header_that_says_who_it_is_or_which_pod_answers(graph: Graph) -> None:
    clients = spec(the(graph, CLIENTS, "clients"))
    assert clients["path"] == {"escapedSlashesAction": "RejectRequest"}
    headers = cast("dict[str, Any]", clients["headers"])
    assert headers["withUnderscoresAction"] == "DropHeader", "x_llm_caller, for what is behind a proxy"
    assert headers["earlyRequestHeaders"] == {
        "remove": [
            "x-llm-caller",
            "x-gateway-inference-objective",
            "x-llm-d-inference-objective",
            "x-gateway-inference-fairness-id",
            "x-llm-d-inference-fairness-id",
            "x-gateway-model-name-rewrite",
            "x-gateway-destination-endpoint",
            "x-gateway-destination-endpoint-subset",
        ],
        "removeOnMatch": [{"type": "Prefix", "value": "x-ai-eg-"}],
    }


def test_the_proxies_close_idle_connections_to_servers_before_the_servers_do(graph: Graph) -> None:
    idle = cast("Any", spec(the(graph, TRAFFIC, "limits"))["timeout"])["http"]["connectionIdleTimeout"]
    assert int(idle.removesuffix("s")) < KEEP_ALIVE_SECONDS


def test_the_log_contains_no_query_in_which_some_clients_send_their_key(graph: Graph) -> None:
    log = str(spec(the(graph, PROXY, front_door.NAME))["telemetry"])
    assert "REQ_WITHOUT_QUERY" in log
    assert "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%" not in log


def test_a_slow_request_ends_after_two_minutes(graph: Graph) -> None:
    assert spec(the(graph, CLIENTS, "clients"))["timeout"] == {"http": {"requestReceivedTimeout": "120s"}}


def test_models_and_pickers_admit_the_doors_envoys_only(graph: Graph) -> None:
    envoys = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "envoy-gateway-system"}},
        "podSelector": {
            "matchLabels": {
                "app.kubernetes.io/component": "proxy",
                "app.kubernetes.io/managed-by": "envoy-gateway",
                "gateway.envoyproxy.io/owning-gateway-name": "front-door",
                "gateway.envoyproxy.io/owning-gateway-namespace": "front-door",
            }
        },
    }
    for name in ("qwen", "small"):
        picker = {
            "podSelector": {
                "matchLabels": {
                    "app.kubernetes.io/component": "llminferenceservice-router-scheduler",
                    "app.kubernetes.io/name": name,
                    "app.kubernetes.io/part-of": "llminferenceservice",
                }
            }
        }
        for guard, ports, peers in (("workload", [8000], [envoys, picker]), ("picker", [9002, 9003], [envoys])):
            policy = spec(the(graph, kinds.NETWORK_POLICY, f"{name}-{guard}"))
            admitted = [{"ports": [{"protocol": "TCP", "port": port} for port in ports], "from": peers}]
            assert policy["ingress"] == admitted, "anyone else would reach the model without a key"


def test_with_tokens_a_claim_names_the_caller_and_only_callers_of_the_settings_pass() -> None:
    graph = variant("tokens")
    policy = spec(the(graph, SECURITY, "callers"))
    assert policy["jwt"] == {
        "providers": [
            {
                "name": "issuer",
                "issuer": "https://id.example.com",
                "audiences": ["llm"],
                "remoteJWKS": {"uri": "https://id.example.com/k", "cacheDuration": "300s"},
                # Not from the query, Envoy Gateway's default.
                "extractFrom": {
                    "headers": [
                        {"name": "Authorization", "valuePrefix": scheme} for scheme in ("Bearer ", "bearer ", "BEARER ")
                    ]
                },
                "claimToHeaders": [{"claim": "team", "header": "x-llm-caller"}],
            }
        ]
    }
    assert policy["authorization"] == {
        "defaultAction": "Deny",
        "rules": [
            {
                "action": "Allow",
                "principal": {"headers": [{"name": "x-llm-caller", "values": ["team-a", "batch"]}]},
            }
        ],
    }
    assert "apiKeyAuth" not in policy, "Envoy Gateway would require both"
    assert not [node for node in of(kinds.SECRET)(graph) if metadata(node, "name") == front_door.KEYS_SECRET]


def test_tokens_can_be_limited_per_month() -> None:
    limits = spec(the(variant("tokens"), TRAFFIC, "limits"))["rateLimit"]
    rules = cast("dict[str, dict[str, list[dict[str, Any]]]]", limits)["global"]["rules"]
    (rule,) = [one for one in rules if one["limit"]["unit"] == "Month"]
    assert rule["limit"] == {"requests": 4_000_000_000, "unit": "Month"}
    assert rule["shared"] is True
    assert rule["cost"]["request"] == {"from": "Number", "number": 0}


def test_errors_are_in_openais_form_and_say_when_to_try_again(graph: Graph) -> None:
    answers = cast("list[dict[str, Any]]", spec(the(graph, TRAFFIC, "limits"))["responseOverride"])
    by_status = {int(one["match"]["statusCodes"][0]["value"]): one["response"] for one in answers}
    for status, becomes, code, retry_after in (
        (401, None, "invalid_api_key", None),
        (403, None, "model_not_allowed", None),
        (404, None, "model_not_found", None),
        (429, None, "rate_limit_exceeded", "60"),
        (500, 503, "service_unavailable", "10"),
        (503, None, "service_unavailable", "10"),
    ):
        answer = by_status[status]
        assert json.loads(answer["body"]["inline"])["error"]["code"] == code
        assert answer.get("statusCode") == becomes
        expected = {"set": [{"name": "Retry-After", "value": retry_after}]} if retry_after else None
        assert answer.get("header") == expected


def test_an_adapter_is_a_name_of_its_model_in_the_list_and_at_the_route() -> None:
    graph = variant("tokens")
    rules = str(spec(the(graph, ROUTE, "qwen-door"))["rules"])
    assert "'value': 'qwen|publishers/models/models/qwen|sql|sea'" in rules
    script = str(spec(the(graph, SCRIPT, "callers"))["lua"])
    for name in ("qwen", "publishers/models/models/qwen", "sql", "sea"):
        assert script.count(f'\\\\"id\\\\":\\\\"{name}\\\\"') == 2, "in the lists of both callers"


def test_a_changed_key_updates_its_secret(graph: Graph, record: Record) -> None:
    """A replaced one would be away for a moment, in which Envoy Gateway answers 500 on every route."""
    assert graph.find(kinds.KUBERNETES_PROVIDER).inputs["enableSecretMutable"] == "true"
    without = record()
    assert "enableSecretMutable" not in without.find(kinds.KUBERNETES_PROVIDER).inputs, "nothing changes without a door"
