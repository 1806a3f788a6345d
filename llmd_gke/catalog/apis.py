"""Google APIs that a project needs.

Sources: https://cloud.google.com/kubernetes-engine/docs/how-to/deploying-gateways (compute, container),
https://cloud.google.com/kubernetes-engine/docs/concepts/about-gke-inference-gateway (networkservices),
https://cloud.google.com/kubernetes-engine/docs/how-to/image-streaming (containerfilesystem),
https://cloud.google.com/kubernetes-engine/docs/troubleshooting/dns ("Cloud DNS API Disabled"),
https://docs.cloud.google.com/kubernetes-engine/docs/how-to/managed-otel-gke (cloudtrace, telemetry).
"""

from __future__ import annotations

APIS = (
    "cloudresourcemanager",
    "compute",
    "container",
    "containerfilesystem",
    "dns",
    "iam",
    "networkservices",
    "artifactregistry",
    "logging",
    "monitoring",
    "serviceusage",
)
"""APIs that every stack needs. ``cloudresourcemanager`` is for role bindings on the project, ``containerfilesystem``
for image streaming, ``dns`` for the cluster's own names (with Cloud DNS as the cluster's DNS they do not resolve
without it), ``networkservices`` for the Inference Gateway, ``logging`` and ``monitoring`` for nodes."""


def needed(
    *,
    certificates: bool = False,
    secrets: bool = False,
    binary_authorization: bool = False,
    encryption: bool = False,
    buckets: bool = False,
    cloud_trace: bool = False,
    billing_budget: bool = False,
    iap: bool = False,
) -> tuple[str, ...]:
    """The APIs of a stack, without ``.googleapis.com``.

    ``certificates``: its gateway uses certificates from Certificate Manager. ``secrets``: the Secret Manager CSI driver
    is installed. ``encryption``: keys of Cloud KMS. ``buckets``: weights or compile caches in Cloud Storage.
    ``cloud_trace``: traces through GKE's managed OpenTelemetry, which writes through the Telemetry API.
    ``billing_budget``: a budget of Google Cloud. ``iap``: Identity-Aware Proxy at the gateway.
    """
    by_setting = {
        "certificatemanager": certificates,
        "secretmanager": secrets,
        "binaryauthorization": binary_authorization,
        "cloudkms": encryption,
        "storage": buckets,
        "cloudtrace": cloud_trace,
        "telemetry": cloud_trace,
        "billingbudgets": billing_budget,
        "iap": iap,
    }
    return (*APIS, *(api for api, wanted in by_setting.items() if wanted))
