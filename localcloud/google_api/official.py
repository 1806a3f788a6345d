"""The official Google plugin (`pulumi-gcp`) on the emulator, if enabled by ``LLMD_GKE_GOOGLE_PLUGIN=official``.

It is taken from Pulumi's own plugin cache in the user's home, at exactly the SDK's version, and from nowhere else. Its
connections cannot be rejected from inside, as in the plugin that is built here. Instead, every API that the program
uses is directed to the emulator, everything else to a proxy address at which nothing listens, and there are no
credentials.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Mapping
from pathlib import Path

from llmd_common.problems import BadInput, SetUpFailed

VARIABLE = "LLMD_GKE_GOOGLE_PLUGIN"
"""``official`` or ``built``, the default."""
NAME = "pulumi-resource-gcp"
NO_PROXY_LISTENS = "http://127.0.0.1:1"

ENDPOINTS = {
    "ARTIFACT_REGISTRY": "artifactregistry.googleapis.com/v1/",
    "COMPUTE": "compute.googleapis.com/compute/beta/",
    "CONTAINER": "container.googleapis.com/v1beta1/",
    "DNS": "dns.googleapis.com/dns/v1/",
    "IAM": "iam.googleapis.com/v1/",
    "IAM_BETA": "iam.googleapis.com/v1/",
    "KMS": "cloudkms.googleapis.com/v1/",
    "RESOURCE_MANAGER": "cloudresourcemanager.googleapis.com/v1/",
    "RESOURCE_MANAGER_V3": "cloudresourcemanager.googleapis.com/v3/",
    "SERVICE_USAGE": "serviceusage.googleapis.com/v1/",
    "STORAGE": "storage.googleapis.com/storage/v1/",
}
"""``GOOGLE_…_CUSTOM_ENDPOINT`` to the API (hashicorp/terraform-provider-google, google/services/*/product.go)."""


def wanted(environ: Mapping[str, str]) -> bool:
    """Whether the official plugin is selected. Raises ``BadInput`` for another value of the variable."""
    chosen = environ.get(VARIABLE) or "built"
    if chosen not in ("built", "official"):
        raise BadInput(f"{VARIABLE}={chosen} is not allowed. Allowed: built, official.\nFix: unset {VARIABLE}.")
    return chosen == "official"


def path(home: Path) -> Path:
    """The plugin in a user's home. Raises ``SetUpFailed`` if this version is missing or incomplete."""
    version = importlib.metadata.version("pulumi-gcp")
    folder = home / ".pulumi" / "plugins" / f"resource-gcp-v{version}"
    program = folder / NAME
    partial = folder.with_name(f"{folder.name}.partial")
    if partial.exists() or not os.access(program, os.X_OK) or not program.is_file():
        raise SetUpFailed(
            f"{VARIABLE}=official requires the official plugin in exactly this version, but {program} does not exist.\n"
            f"Fix: pulumi plugin install resource gcp {version}; or unset {VARIABLE}."
        )
    return program


def environment(environ: Mapping[str, str], url: str) -> dict[str, str]:
    """The plugin's environment. ``url`` is the emulator's address."""
    return {
        **{name: value for name, value in environ.items() if not name.upper().startswith(("GOOGLE_", "NO_PROXY"))},
        **{f"GOOGLE_{name}_CUSTOM_ENDPOINT": f"{url}/{api}" for name, api in ENDPOINTS.items()},
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NO_PROXY_LISTENS),
        "GOOGLE_APPLICATION_CREDENTIALS": os.devnull,
        "GOOGLE_OAUTH_ACCESS_TOKEN": "emulator",
    }
