"""The facts about KServe: API, charts, labels, annotations, and names of the objects that it generates.

Paths such as ``workload.go`` in docstrings of other modules are files of :func:`release`, below :data:`CONTROLLER`
unless they say otherwise. A newer KServe needs changes to ``versions.toml`` and this file;
``tests/schema/test_kserve_source.py`` compares both with KServe's source.
"""

from __future__ import annotations

from llmd_gke.catalog import upstream, versions

MODULE = "github.com/kserve/kserve"

GROUP = "serving.kserve.io"
VERSION = "v1alpha2"
"""The version that is stored, and that the program writes."""
API_VERSION = f"{GROUP}/{VERSION}"
SERVICE = "LLMInferenceService"
SERVICES = "llminferenceservices"
"""The plural, as in the paths of the API."""
CONFIG = "LLMInferenceServiceConfig"

API = f"pkg/apis/serving/{VERSION}"
"""Folder of the types and of their validation."""
CONTROLLER = f"pkg/controller/{VERSION}/llmisvc"
"""Folder of the controller."""
PRESETS = "config/llmisvcconfig"
"""Folder of the configurations that KServe ships."""

STOP = f"{GROUP}/stop"
"""Annotation: with ``true`` KServe deletes everything that it created for the service, and keeps the service."""
SECRET_NAME = f"{GROUP}/secretName"
"""The Secret from which the storage initializer takes ``HF_TOKEN`` (``pkg/credentials/hf/hf_secret.go``)."""

NAMESPACE = "kserve"
"""It cannot be changed: the CRD chart hard-codes the namespace of its conversion webhook."""
CRD_CHART = "kserve-llmisvc-crd"
CONTROLLER_CHART = "kserve-llmisvc-resources"
PRESETS_CHART = "kserve-runtime-configs"
CHARTS = frozenset({CRD_CHART, f"{CRD_CHART}-minimal", CONTROLLER_CHART, PRESETS_CHART})
FLOOR = "0.20.0"
"""The oldest chart that works on GKE (``versions.toml`` says why). It stays when the pinned version moves."""

PIPELINE_WORKERS = "kserve-config-llm-{role}worker-pipeline-parallel"
"""Presets for pipeline-parallel workers that ``config_merge.go`` refers to, and that :data:`PRESETS` does not contain.
``role``: ``decode-``, ``prefill-`` or nothing."""

PRE_STOP_SECONDS = 15
"""Seconds that the presets sleep before a container gets SIGTERM, so that no new requests arrive by then."""

NAME = "app.kubernetes.io/name"
PART_OF = "app.kubernetes.io/part-of"
COMPONENT = "app.kubernetes.io/component"
OWN_COMPONENT = "kserve.io/component"
"""Labels of pods. :data:`OWN_COMPONENT` is on pods that serve requests, not on the workers of a group."""
PART = "llminferenceservice"
WORKLOAD = "workload"
"""Value of :data:`OWN_COMPONENT`."""
LEADER = f"{PART}-workload-leader"
WORKER = f"{PART}-workload-worker"
PICKER = f"{PART}-router-scheduler"
"""Values of :data:`COMPONENT`."""

WORKLOAD_PORT = 8000
PICKER_PORT = 9002
PICKER_HEALTH_PORT = 9003
PICKER_METRICS_PORT = 9090

POOL_SUFFIX = "-inference-pool"
DEPLOYMENT_SUFFIX = "-kserve"
"""End of the name of the Deployment with a model's servers."""
WORKLOAD_SUFFIX = "-kserve-workload-svc"
ROUTE_SUFFIX = "-kserve-route"


def release() -> str:
    """The pinned version, such as ``v1.2.3``."""
    return versions.modules()[MODULE]


def source(path: str) -> str:
    """The address of a file or folder of KServe at :func:`release`."""
    return upstream.source(MODULE, path)


def issue(number: int) -> str:
    """The address of an issue or pull request."""
    return f"https://github.com/kserve/kserve/issues/{number}"


def inference_pool(service: str) -> str:
    """The name of a service's InferencePool."""
    return f"{service}{POOL_SUFFIX}"


def deployment(service: str) -> str:
    """The name of the Deployment with a model's servers."""
    return f"{service}{DEPLOYMENT_SUFFIX}"


def picker_service(service: str) -> str:
    """Name of the Service of a model's endpoint picker (kserve ``pkg/controller/v1alpha2/llmisvc/scheduler.go``)."""
    return f"{service}-epp-service"


def workload_service(service: str) -> str:
    """The name of the Kubernetes Service in front of a model's pods."""
    return f"{service}{WORKLOAD_SUFFIX}"


def managed_route(service: str) -> str:
    """The name of the HTTPRoute that KServe creates if a service refers to none, and deletes if it refers to one."""
    return f"{service}{ROUTE_SUFFIX}"
