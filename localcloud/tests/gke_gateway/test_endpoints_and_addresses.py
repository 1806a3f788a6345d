from __future__ import annotations

import json
from pathlib import Path

from localcloud.gke_gateway.addresses import address_of, reserved
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.gke_gateway.resources.endpoints import EndpointSource, PodEndpoint, endpoints
from localcloud.gke_gateway.resources.objects import snapshot_of
from localcloud.gke_gateway.resources.policies import HealthCheck, backend_settings, health_check
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.gke_gateway import builders as b

POOL_OF_QWEN = EndpointSource("InferencePool", "llm", "qwen")
SERVICE_OF_MODELS = EndpointSource("Service", "llm", "models", 80)


def test_a_pool_holds_the_ready_pods_of_its_selector_and_namespace() -> None:
    leaving = b.pod("leaving", "10.244.0.5", app="qwen")
    leaving["metadata"] = {
        "name": "leaving",
        "namespace": "llm",
        "labels": {"app": "qwen"},
        "deletionTimestamp": "2026-01-01T00:00:00Z",
    }
    stranger = b.pod("stranger", "10.244.0.6", app="qwen")
    stranger["metadata"] = {"name": "stranger", "namespace": "other", "labels": {"app": "qwen"}}
    snapshot = snapshot_of(
        b.pool("qwen", 8000),
        b.pod("ready", "10.244.0.2", app="qwen"),
        b.pod("starting", "10.244.0.3", app="qwen", ready=False),
        b.pod("another", "10.244.0.4", app="gemma"),
        leaving,
        stranger,
    )
    assert endpoints(POOL_OF_QWEN, snapshot) == [PodEndpoint("10.244.0.2", 8000)]


def test_a_service_holds_the_ready_endpoints_of_its_slices_at_the_target_port() -> None:
    many = b.endpoint_slice("models", 8000, "10.244.0.2", "10.244.0.1")
    starting = b.endpoint_slice("models", 8000, "10.244.0.3", ready=False)
    starting["metadata"] = {**b.obj("x", "models-2")["metadata"], "labels": {"kubernetes.io/service-name": "models"}}  # type: ignore[dict-item]
    snapshot = snapshot_of(b.service("models"), many, starting, b.endpoint_slice("others", 8000, "10.244.0.9"))
    assert endpoints(SERVICE_OF_MODELS, snapshot) == [PodEndpoint("10.244.0.1", 8000), PodEndpoint("10.244.0.2", 8000)]
    assert endpoints(EndpointSource("Service", "llm", "models", 81), snapshot) == []


def test_defaults_without_policies_are_those_of_gke() -> None:
    target = ("InferencePool", "llm", "qwen")
    assert health_check(snapshot_of(), target) == HealthCheck(
        type="HTTP", path="/", host="", port=None, interval_seconds=5, timeout_seconds=5, healthy=2, unhealthy=2
    )
    assert backend_settings(snapshot_of(), target).timeout_seconds == 30


def test_a_policy_for_a_fixed_port_moves_the_health_check_there() -> None:
    block: JsonObject = {"port": 8001, "portSpecification": "USE_FIXED_PORT", "requestPath": "/health"}
    policy = b.health_policy("Service", "models", config={"type": "HTTP", "httpHealthCheck": block})
    result = health_check(snapshot_of(policy), ("Service", "llm", "models"))
    assert (result.port, result.path, result.interval_seconds) == (8001, "/health", 1)


def test_reserved_addresses_are_those_of_the_google_stand_in(tmp_path: Path) -> None:
    file = tmp_path / "google.json"
    assert reserved(file) == {}
    records = {
        "projects/p/regions/r/addresses/chosen": {"inputs": {"name": "chosen"}, "computed": {"address": "203.0.113.9"}},
        "projects/p/regions/r/addresses/asked": {
            "inputs": {"name": "asked", "address": "10.0.0.8"},
            "computed": {"address": "10.0.0.8"},
        },
    }
    file.write_text(json.dumps({"objects": {"gcp:compute/address:Address": records}}))
    assert reserved(file) == {"chosen": "203.0.113.9", "asked": "10.0.0.8"}


def test_a_gateway_without_a_named_address_gets_one_and_keeps_it() -> None:
    internal = address_of(b.gateway(), CLASSES["gke-l7-rilb"], {})
    external = address_of(b.gateway(), CLASSES["gke-l7-regional-external-managed"], {})
    assert (internal.startswith("10.0.0."), external.startswith("203.0.113.")) == (True, True)
    given: JsonObject = {**b.gateway(), "status": {"addresses": [{"type": "IPAddress", "value": "10.0.0.99"}]}}
    assert address_of(given, CLASSES["gke-l7-rilb"], {}) == "10.0.0.99"
    named = b.gateway(addresses=[{"type": "NamedAddress", "value": "llm"}])
    assert address_of(named, CLASSES["gke-l7-rilb"], {"llm": "10.0.0.7"}) == "10.0.0.7"
    assert address_of(named, CLASSES["gke-l7-rilb"], {}) == ""


def test_gateways_never_share_an_ephemeral_address_while_another_is_free() -> None:
    taken: set[str] = set()
    for number in range(200):
        address = address_of(b.gateway(f"gateway-{number}"), CLASSES["gke-l7-rilb"], {}, taken)
        assert address not in taken
        taken.add(address)
    assert address_of(b.gateway("one-more"), CLASSES["gke-l7-rilb"], {}, taken) in taken
