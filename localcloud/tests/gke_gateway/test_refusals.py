"""What GKE refuses of a route, and neither the conformance suites nor ``test_refusals.py`` of real Kubernetes send."""

from __future__ import annotations

import pytest

from localcloud.gke_gateway.refusals import route_refusal
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.gke_gateway import builders as b

BACKEND = b.to_service("models")
EXPRESSION: JsonObject = {"path": {"type": "RegularExpression", "value": "^/.*$"}}


@pytest.mark.parametrize(
    ("rule", "error"),
    [
        (b.rule("/", BACKEND, retry={"attempts": 3}), "Retry"),
        ({"matches": [EXPRESSION], "backendRefs": [BACKEND]}, "Paths must start with a '/' character"),
    ],
)
def test_a_route_is_refused_with_the_code_and_its_name(rule: JsonObject, error: str) -> None:
    refusal = route_refusal(b.route("broken", b.rule("/fine", BACKEND), rule))
    assert refusal is not None
    assert refusal.message.startswith('Error GWCER104: HTTPRoute "llm/broken" is misconfigured, err: ')
    assert error in refusal.message
