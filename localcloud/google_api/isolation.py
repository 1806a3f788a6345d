"""The environment of Google's provider, which keeps it on this machine: the built one and the official one alike.

The built plugin also rejects connections from inside (``gomod/google-provider/emulator.go``). The official one cannot.
For it there are no credentials, a token that is worth nothing, every API at the emulator, and a proxy at which nothing
listens for what has no endpoint of its own: who owns a token (once per start, ignored), and endpoints that a program
gives to a provider itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from localcloud.common.environment import is_proxy

NO_PROXY_LISTENS = "http://127.0.0.1:1"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")

ENDPOINTS = {
    "artifact_registry": "artifactregistry.googleapis.com/v1/",
    "cloud_billing": "cloudbilling.googleapis.com/v1/",
    "compute": "compute.googleapis.com/compute/beta/",
    "container": "container.googleapis.com/v1beta1/",
    "dns": "dns.googleapis.com/dns/v1/",
    "iam": "iam.googleapis.com/v1/",
    "iam_beta": "iam.googleapis.com/v1/",
    "monitoring": "monitoring.googleapis.com/",
    "resource_manager": "cloudresourcemanager.googleapis.com/v1/",
    "resource_manager_v3": "cloudresourcemanager.googleapis.com/v3/",
    "service_usage": "serviceusage.googleapis.com/v1/",
    "storage": "storage.googleapis.com/storage/v1/",
}
"""The provider's settings ``…_custom_endpoint`` for the emulator's APIs, without this end, to the API
(hashicorp/terraform-provider-google-beta, google-beta/services/*/product.go)."""
UNKNOWN = "unknown/"
"""Where every other API is: the emulator answers 404."""
UNLIKE = ("containeraws", "containerazure")
"""Names of variables that differ from the setting's (google-beta/transport/config.go, ``HandleSDKDefaults``)."""


def environment(environ: Mapping[str, str], url: str) -> dict[str, str]:
    """The provider's environment. ``url`` is the emulator's address."""
    kept = {
        name: value
        for name, value in environ.items()
        if not is_proxy(name) and not name.upper().startswith(("GOOGLE_", "NO_PROXY"))
    }
    endpoints = {
        f"GOOGLE_{name.upper()}_CUSTOM_ENDPOINT": f"{url}/{ENDPOINTS.get(name, UNKNOWN)}"
        for name in (*services(), *UNLIKE)
    }
    return {
        **kept,
        **endpoints,
        **dict.fromkeys(PROXIES, NO_PROXY_LISTENS),
        "GOOGLE_APPLICATION_CREDENTIALS": os.devnull,
        "GOOGLE_OAUTH_ACCESS_TOKEN": "emulator",
        # It lists regions at Google's own address, whatever the endpoint (pulumi/pulumi-gcp provider/resources.go,
        # ``getRegionsList``).
        "PULUMI_GCP_SKIP_REGION_VALIDATION": "true",
    }


@cache
def services() -> tuple[str, ...]:
    """Every API for which the provider has an endpoint, by the SDK's text: importing it takes a second."""
    text = Path(str(metadata.distribution("pulumi-gcp").locate_file("pulumi_gcp/provider.py"))).read_text("utf-8")
    return tuple(sorted(set(re.findall(r"\b([a-z0-9_]+)_custom_endpoint\b", text))))
