"""Callers of the front door: their keys, models, priorities and limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pulumi
import pytest

from components import configuration
from llmd_common.pulumi_signatures import is_secret
from llmd_gke.catalog import front_door
from llmd_gke.graph.recording import Graph, ResourceNode
from llmd_gke.manifests import egress
from llmd_gke.manifests.front_door import firewall
from llmd_gke.settings import FrontDoorSettings, GatewaySettings, NetworkSettings
from tests.components import kinds
from tests.components.conftest import Record
from tests.components.front_door.conftest import KEYS, PLAIN
from tests.components.front_door.support import OBJECTIVE, ROUTE, SECURITY, TRAFFIC, the
from tests.components.kinds import metadata, of, spec
from tests.components.variants import variant


def of_models(graph: Graph) -> dict[str, ResourceNode]:
    policies = {str(metadata(node, "name")): node for node in of(SECURITY)(graph)}
    return {name: node for name, node in policies.items() if name != "callers"}


def test_each_model_has_a_policy_that_names_its_callers_and_is_merged(graph: Graph) -> None:
    policies = {name: node for name, node in of_models(graph).items() if not name.endswith("-unknown")}
    assert {name: metadata(node, "namespace") for name, node in policies.items()} == {
        "qwen-door": "models",
        "small-door": "others",
    }
    assert {spec(node)["mergeType"] for node in policies.values()} == {"StrategicMerge"}
    assert "'values': ['team-a', 'batch']" in str(spec(policies["qwen-door"])["authorization"])
    assert "'values': ['team-a']" in str(spec(policies["small-door"])["authorization"])
    for name, policy in policies.items():
        assert graph.comes_before(policy, the(graph, ROUTE, name)), "open to everyone for a moment, otherwise"


def test_every_caller_may_reach_the_404_at_the_end_of_a_models_route(graph: Graph) -> None:
    """Of the models' routes the one that AI Gateway made first answers for unknown models."""
    policies = {name: spec(node) for name, node in of_models(graph).items() if name.endswith("-unknown")}
    assert policies.keys() == {"small-door-unknown"}, "every caller may use qwen"
    policy = policies["small-door-unknown"]
    assert policy["targetRefs"] == [
        {
            "group": "gateway.networking.k8s.io",
            "kind": "HTTPRoute",
            "name": "small-door",
            "sectionName": "route-not-found",
        }
    ]
    assert policy["mergeType"] == "StrategicMerge", "keys would not be checked, otherwise"
    assert "'values': ['team-a', 'batch']" in str(policy["authorization"])


def test_priorities_reach_the_picker(graph: Graph) -> None:
    given = {
        (metadata(node, "namespace"), metadata(node, "name")): spec(node)["priority"] for node in of(OBJECTIVE)(graph)
    }
    assert given == {("models", "team-a"): 10, ("models", "batch"): -10, ("others", "team-a"): 10}
    for node in of(kinds.SERVICE)(graph):
        assert "'featureGates': ['flowControl']" in str(spec(node))
        assert "'flowControl': {'defaultRequestTTL': '60s'}" in str(spec(node)), "without servers it would wait forever"


def test_keys_are_secret_and_in_one_secret_only(door: Callable[[], Graph]) -> None:
    graph = door()
    secret = graph.find(kinds.SECRET, "front-door-keys")
    assert is_secret(secret.inputs["stringData"]), "in plain text in the state, otherwise"
    holders = [node.name for node in graph.nodes.values() if KEYS["team-a"] in str(node)]
    assert holders == [secret.name]
    assert KEYS["team-a"] not in str(graph.outputs)


def stack_file(folder: Path, batch: str) -> None:
    lines = ("config:", "  llmd-gke:callerKeys:", "    team-a:", "      secure: v1:abc", f"    batch: {batch}", "")
    (folder / "Pulumi.eu4a.yaml").write_text("\n".join(lines))


def test_one_plain_key_among_encrypted_ones_is_refused_by_the_program_itself(
    door: Callable[[], Graph], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The engine says only that the map contains something secret."""
    folder: list[str | None] = [str(tmp_path)]
    monkeypatch.setattr(configuration, "get_root_directory", lambda: folder[0])
    stack_file(tmp_path, KEYS["batch"])
    with pytest.raises(pulumi.RunError, match=r"(?s)callerKeys\.batch.*plain text.*config rm --path") as caught:
        door()
    assert KEYS["batch"] not in str(caught.value)
    assert "team-a" not in str(caught.value)
    stack_file(tmp_path, "c" * 40)
    door()  # another file than the one in use
    folder[0] = None
    door()  # as after policies ran in the same process: they reset Pulumi's settings


def test_without_limits_and_priorities_there_is_neither_limiter_nor_redis_and_the_picker_is_what_it_was(
    door: Callable[[], Graph],
) -> None:
    graph = door()
    assert "rateLimit" not in str(kinds.chart(front_door.GATEWAY_CHART)(graph)[0].inputs["values"])
    assert "rateLimit" not in spec(the(graph, TRAFFIC, "limits"))
    assert not [node for node in graph.nodes.values() if "redis" in node.name]
    assert of(OBJECTIVE)(graph) == []
    assert "featureGates" not in str([spec(node) for node in of(kinds.SERVICE)(graph)])


def test_a_redis_that_exists_is_used(record: Record) -> None:
    limited = [{"name": "team-a", "requestsPerMinute": 5}, {"name": "batch"}]
    settings = {"callers": limited, "redis": "10.1.2.3:6379", "whenLimiterIsAway": "refuse"}
    graph = record({**PLAIN, "llmd-gke:frontDoor": settings})
    values = str(kinds.chart(front_door.GATEWAY_CHART)(graph)[0].inputs["values"])
    assert "'url': '10.1.2.3:6379'" in values
    assert "'failClosed': True" in values
    assert "'timeout': '250ms'" in values, "by default Envoy serves uncounted after 20 ms"
    assert not [node for node in graph.nodes.values() if "redis" in node.name]
    assert "'cidr': '10.1.2.3/32'" in str(spec(graph.find(kinds.NETWORK_POLICY, "front-door-allow-gateway")))


@pytest.mark.parametrize(
    ("redis", "port", "ranges"),
    [
        ("10.0.0.5:6378", 6378, ["10.0.0.5/32"]),
        ("34.1.2.3:6379", 6379, ["34.1.2.3/32"]),
        ("redis.corp:6380", 6380, list(egress.PRIVATE_RANGES)),
    ],
)
def test_the_limiter_may_reach_the_redis_that_exists(redis: str, port: int, ranges: list[str]) -> None:
    callers = [{"name": "team-a", "requestsPerMinute": 5}]
    door = FrontDoorSettings.model_validate({"callers": callers, "redis": redis}, by_alias=True)
    policies = firewall.policies(door, NetworkSettings(), GatewaySettings(), ["models"], private_nodes=True)
    egress_rules = cast("dict[str, list[object]]", policies["allow-gateway"]["spec"])["egress"]
    rules = [rule for rule in egress_rules if f"'port': {port}" in str(rule)]
    assert [str(rule).count("'cidr'") for rule in rules] == [len(ranges)]
    assert all(f"'{one}'" in str(rules) for one in ranges)


def test_a_claim_is_the_callers_name_as_it_is_and_models_get_no_token(door: Callable[[], Graph]) -> None:
    """Of a key's name the part before the dot counts; whoever has a claim ``team-a.x`` is not team-a."""
    scripts = [
        str(spec(the(graph, f"kubernetes:{front_door.GATEWAY_VERSION}:EnvoyExtensionPolicy", "callers"))["lua"])
        for graph in (door(), variant("tokens"))
    ]
    assert [script.count("id:match(") for script in scripts] == [1, 0]
    assert ['remove("authorization")' in script for script in scripts] == [False, True]


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


def test_usage_by_caller_is_collected_unless_nothing_is(graph: Graph, bare: Graph) -> None:
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
    assert not [node for node in bare.nodes.values() if node.name == "front-door-usage"]


def test_keys_are_checked_before_ai_gateway_reads_a_request(graph: Graph) -> None:
    proxy = graph.find(f"kubernetes:{front_door.GATEWAY_VERSION}:EnvoyProxy", "front-door-proxies")
    assert spec(proxy)["filterOrder"] == [
        {"name": "envoy.filters.http.custom_response", "after": "envoy.filters.http.ratelimit"}
    ], "AI Gateway's filter would be before the keys: /v1/models answered 200 without one"
