"""Names of objects: ours, and those that KServe will make (kserve v0.20.0 ``workload.go``, ``scheduler.go``).

KServe concatenates plainly while a name has at most 63 characters, which :data:`llmd_gke.rules.names.MODEL_NAME_LIMIT`
guarantees. So policies can aim at objects that do not exist yet.
"""

from __future__ import annotations

from llmd_gke.manifests.types import Json, JsonObject

GATEWAY_NAMESPACE = "inference-gateway"
GATEWAY_NAME = "inference-gateway"
GATEWAY_ACCESS_LABEL = "llmd-gke/gateway-access"
"""Label of the namespaces whose routes the Gateway admits, for people to find them; the Gateway goes by their names."""

TLS_SECRET = "gateway-certificate"  # noqa: S105 - the name of an object

REDIRECT = "redirect-to-https"

KSERVE_NAMESPACE = "kserve"
"""Not a choice: the CRD chart hard-codes its conversion webhook there."""

TOKEN_SECRET = "hugging-face-token"  # noqa: S105 - the name of an object

PULL_SECRET = "image-pull-secret"  # noqa: S105 - the name of an object

WORKER_PRESET = "kserve-config-llm-worker-pipeline-parallel"
"""The preset that KServe merges into services with pipeline-parallel workers, and does not ship."""

WORKLOAD_PORT = 8000
PICKER_PORT = 9002
PICKER_HEALTH_PORT = 9003


def inference_pool(model: str) -> str:
    """The InferencePool KServe makes for a service."""
    return f"{model}-inference-pool"


def workload_service(model: str) -> str:
    """The Service in front of the model's pods."""
    return f"{model}-kserve-workload-svc"


def tpu_config(model: str) -> str:
    """Our LLMInferenceServiceConfig with the TPU runtime."""
    return f"{model}-tpu"


def route(model: str) -> str:
    """Our HTTPRoute. Not ``-kserve-route``: KServe deletes a route of that name when routes are referred to."""
    return f"{model}-route"


def service_labels(model: str) -> JsonObject:
    """Labels KServe sets on every pod of a service, its endpoint picker's among them."""
    return {"app.kubernetes.io/name": model, "app.kubernetes.io/part-of": "llminferenceservice"}


def workload_labels(model: str) -> JsonObject:
    """Labels KServe sets on model pods. ``app.kubernetes.io/component: workload``, often seen, matches nothing."""
    return {**service_labels(model), "kserve.io/component": "workload"}


def group_selector(model: str) -> JsonObject:
    """Selects every pod of a model that spans hosts. Workers lack ``kserve.io/component``: requests go to leaders."""
    components: list[Json] = ["llminferenceservice-workload-leader", "llminferenceservice-workload-worker"]
    return {
        "matchLabels": service_labels(model),
        "matchExpressions": [{"key": "app.kubernetes.io/component", "operator": "In", "values": components}],
    }


def picker_labels(model: str) -> JsonObject:
    """Labels KServe sets on the endpoint picker's pod."""
    return {**service_labels(model), "app.kubernetes.io/component": "llminferenceservice-router-scheduler"}
