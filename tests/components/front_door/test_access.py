"""Cloud Armor and IAP in front of a front door: what the load balancer asks before the first request."""

from __future__ import annotations

from typing import Any, cast

import pytest

from llmd_common.pulumi_signatures import is_secret
from llmd_gke.catalog import front_door
from llmd_gke.graph.recording import Graph
from tests.components import kinds
from tests.components.conftest import Record
from tests.components.front_door.support import the
from tests.components.kinds import metadata, of, spec

ARMOR = "gcp:compute/regionSecurityPolicy:RegionSecurityPolicy"
BACKEND = "kubernetes:networking.gke.io/v1:GCPBackendPolicy"


def test_a_door_without_access_leaves_the_load_balancer_as_it_was(graph: Graph) -> None:
    assert not of(ARMOR)(graph)
    default = cast("dict[str, object]", spec(the(graph, BACKEND, "front-door-backend-service"))["default"])
    assert default.keys() == {"timeoutSec", "connectionDraining", "logging"}


def test_the_load_balancer_drains_a_proxy_as_long_as_it_finishes_its_requests(graph: Graph) -> None:
    default = cast("Any", spec(the(graph, BACKEND, "front-door-backend-service"))["default"])
    (proxy,) = of(f"kubernetes:{front_door.GATEWAY_VERSION}:EnvoyProxy")(graph)
    proxy_drains = cast("Any", spec(proxy)["shutdown"])["drainTimeout"]
    assert f"{int(default['connectionDraining']['drainingTimeoutSec'])}s" == proxy_drains


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
    route = the(guarded, kinds.ROUTE, front_door.NAME)
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
