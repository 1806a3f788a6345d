"""What GKE refuses of a route, and neither the conformance suites nor ``test_refusals.py`` of real Kubernetes send."""

from __future__ import annotations

import pytest

from localcloud.gke_gateway.refusals import route_refusal
from localcloud.gke_gateway.resources.classes import CLASSES
from localcloud.providers.protocol.values import JsonObject
from localcloud.tests.gke_gateway import builders as b

REGIONAL, CLASSIC = "gke-l7-regional-external-managed", "gke-l7-gxlb"
BACKEND = b.to_service("models")
EXPRESSION: JsonObject = {"path": {"type": "RegularExpression", "value": "^/.*$"}}
REWRITE: JsonObject = {"type": "URLRewrite", "urlRewrite": {"hostname": "models.example.com"}}


@pytest.mark.parametrize(
    ("gateway_class", "rule", "error"),
    [
        (REGIONAL, b.rule("/", BACKEND, retry={"attempts": 3}), "Retry"),
        (REGIONAL, {"matches": [EXPRESSION], "backendRefs": [BACKEND]}, "Paths must start with a '/' character"),
        (CLASSIC, b.rule("/", BACKEND, filters=[REWRITE]), "classic GXLB"),
        (REGIONAL, b.rule("/", BACKEND, filters=[REWRITE]), None),
    ],
)
def test_a_route_is_refused_with_the_code_and_its_name(gateway_class: str, rule: JsonObject, error: str | None) -> None:
    refusal = route_refusal(b.route("broken", b.rule("/fine", BACKEND), rule), CLASSES[gateway_class])
    if error is None:
        assert refusal is None
        return
    assert refusal is not None
    assert refusal.message.startswith('Error GWCER104: HTTPRoute "llm/broken" is misconfigured, err: ')
    assert error in refusal.message
