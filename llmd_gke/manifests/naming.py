"""Names of objects: ours, and those that KServe will make (kserve ``workload.go``, ``scheduler.go``).

KServe concatenates names as long as the result has at most 63 characters, which
:data:`llmd_gke.rules.names.MODEL_NAME_LIMIT` guarantees. So policies can aim at objects that do not exist yet.
"""

from __future__ import annotations

import hashlib

from llmd_gke.catalog import kserve
from llmd_gke.catalog.accelerators import DEFAULT, Accelerator
from llmd_gke.json_types import Json, JsonObject

GATEWAY_NAMESPACE = "inference-gateway"
GATEWAY_NAME = "inference-gateway"
GATEWAY_ACCESS_LABEL = "llmd-gke/gateway-access"
"""Label of namespaces whose routes the Gateway admits, for people to find them; the Gateway selects them by name."""

TLS_SECRET = "gateway-certificate"  # noqa: S105 - the name of an object

REDIRECT = "redirect-to-https"

TOKEN_SECRET = "hugging-face-token"  # noqa: S105 - the name of an object

PULL_SECRET = "image-pull-secret"  # noqa: S105 - the name of an object

WORKER_PRESET = kserve.PIPELINE_WORKERS.format(role="")
"""Name of the preset that KServe merges into services with pipeline-parallel workers, but does not ship."""


def runtime_config(model: str, kind: Accelerator = DEFAULT) -> str:
    """Name of our LLMInferenceServiceConfig with the runtime for an accelerator."""
    return f"{model}-{kind.config_suffix}"


def route(model: str) -> str:
    """Name of our HTTPRoute. Not ``-kserve-route``: KServe deletes one of that name if the service refers to one."""
    return f"{model}-route"


def door_route(model: str) -> str:
    """The model's route at the front door: an AIGatewayRoute, and the HTTPRoute that AI Gateway creates from it."""
    return f"{model}-door"


def autoscaler(model: str) -> str:
    """Name of the model's autoscaler. Not ``-kserve-hpa`` or ``-kserve-keda``: KServe deletes those."""
    return f"{model}-replicas"


def load(model: str) -> str:
    """Name of the object that defines which metrics of the model's servers are its load."""
    return f"{model}-load"


COPY_LABEL = "llmd-gke/weights-of"
"""Label of the pods that copy a model's weights; none of KServe's, which would make them servers of the model."""


def copy_labels(model: str) -> JsonObject:
    """Labels of the pods that copy a model's weights into a bucket."""
    return {COPY_LABEL: model}


def copy_job(model: str, folder: str) -> str:
    """Name of the Job that copies a model's weights to ``folder``. A Job cannot be changed: another folder is another
    Job, with another account.
    """
    return f"{model}-weights-{hashlib.sha256(folder.encode()).hexdigest()[:8]}"


def early_hosts(pool: str) -> str:
    """Name of the Job whose pods ask for a pool's early hosts."""
    return f"{pool}-early-hosts"


def service_labels(model: str) -> JsonObject:
    """Labels KServe sets on every pod of a service, its endpoint picker's among them."""
    return {kserve.NAME: model, kserve.PART_OF: kserve.PART}


def workload_labels(model: str) -> JsonObject:
    """Labels KServe sets on model pods. The often used ``app.kubernetes.io/component: workload`` matches nothing."""
    return {**service_labels(model), kserve.OWN_COMPONENT: kserve.WORKLOAD}


def group_selector(model: str) -> JsonObject:
    """Selects every pod of a model that spans hosts. Workers lack ``kserve.io/component``: requests go to leaders."""
    components: list[Json] = [kserve.LEADER, kserve.WORKER]
    return {
        "matchLabels": service_labels(model),
        "matchExpressions": [{"key": kserve.COMPONENT, "operator": "In", "values": components}],
    }


def picker_labels(model: str) -> JsonObject:
    """Labels KServe sets on the endpoint picker's pod."""
    return {**service_labels(model), kserve.COMPONENT: kserve.PICKER}
