"""What GKE's controllers say of the program's own Gateway, routes and policies: nothing of ``test_refusals.py``."""

from __future__ import annotations

from localcloud.tests.real_kubernetes import objects
from localcloud.tests.real_kubernetes.harness import Laptop

ROUTES = "httproutes.gateway.networking.k8s.io"
HEALTH = "healthcheckpolicies.networking.gke.io"
BACKEND = "gcpbackendpolicies.networking.gke.io"


def test_our_program_has_none_of_this(laptop: Laptop) -> None:
    (gateway,) = objects.every(laptop, "gateways.gateway.networking.k8s.io")
    assert gateway["spec"]["gatewayClassName"] == "gke-l7-regional-external-managed"
    assert objects.condition(gateway, "Programmed") == "True", objects.why(gateway)
    routes = objects.every(laptop, ROUTES)
    assert routes
    for route in routes:
        assert {name: one["status"] for name, one in objects.verdict(route).items()} == {
            "Accepted": "True",
            "ResolvedRefs": "True",
            "Reconciled": "True",
        }, route["status"]
    for kind in (HEALTH, BACKEND):
        policies = objects.every(laptop, kind)
        targets = {policy["spec"]["targetRef"]["kind"] for policy in policies}
        assert targets == {"InferencePool", "Service"}
        assert [objects.condition(policy, "Attached") for policy in policies] == ["True"] * len(policies)
    for service in objects.every(laptop, "services", namespace=objects.MODELS):
        assert "https" not in [port.get("appProtocol") for port in service["spec"]["ports"]]
