"""Why a verdict here differs from GKE's, why a test that Istio passes is left out, or why a test of the inference
extension does not pass: a sentence each.
"""

from __future__ import annotations

from collections.abc import Mapping

GKE: Mapping[str, str] = {
    "GatewayOptionalAddressValue": "Passes anywhere: the suite removes the address before it creates the Gateway "
    "(`conformance/utils/kubernetes/apply.go`, `prepareGateway`).",
    "HTTPRouteNamedRule": "A rule's name changes nothing for Envoy. GKE does not claim it; no source says that "
    "it refuses names.",
    "HTTPRouteQueryParamMatching": "GKE 1.36.2 claims the feature.",
}

GKE_INFERENCE: Mapping[str, str] = {
    "InferencePoolAppProtocol": "Two of its three pools pass. The health of the third, h2c, is asked in HTTP/1.1, as "
    "GKE asks it (kubernetes-sigs/gateway-api-inference-extension#2966), and the suite's server answers that with 400.",
}

ISTIO: Mapping[str, str] = {
    "HTTPRouteRetry": "`retry` is a field of the experimental channel. GKE has the CRDs of the standard one, and so "
    "has the laptop cloud.",
}

ISTIO_INFERENCE: Mapping[str, str] = {}
