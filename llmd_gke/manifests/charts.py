"""Helm charts of the platform and their values.

Value names: the charts' own ``values.yaml`` at the versions of ``catalog/versions.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llmd_gke.catalog import kserve, registries, versions
from llmd_gke.catalog.registries import NONE, Mirrors
from llmd_gke.json_types import JsonObject
from llmd_gke.manifests import naming


@dataclass(frozen=True)
class Release:
    """One Helm release. ``chart`` is an OCI address or a folder; ``version`` is ``None`` for a folder.
    ``create_namespace``: Helm creates the namespace if it is missing.
    """

    name: str
    namespace: str
    chart: str
    version: str | None
    values: JsonObject
    create_namespace: bool = False


def release(
    name: str, namespace: str, folder: str | None, mirrors: Mirrors, values: JsonObject | None = None
) -> Release:
    """A pinned chart, from its registry, a mirror of that, or a folder with a folder for each chart."""
    pinned = versions.chart(name)
    if folder is None:
        home = f"oci://{registries.at(pinned.home.removeprefix('oci://'), mirrors.charts)}"
        return Release(name, namespace, home, pinned.version, values or {})
    return Release(name, namespace, f"{folder.rstrip('/')}/{name}", None, values or {})


def _moved(value: str, image: str, mirrors: Mirrors) -> JsonObject:
    """The chart value that names an image's copy in the mirror; empty if there is none, so that the default applies."""
    there = registries.at(image, mirrors.images)
    return {} if there == image else {value: there}


def cert_manager(folder: str | None = None, mirrors: Mirrors = NONE) -> Release:
    """cert-manager: KServe's webhooks need it (KServe's chart always renders an Issuer)."""
    values: JsonObject = {"crds": {"enabled": True, "keep": False}}
    if registries.CERT_MANAGER in mirrors.images:
        values["imageRegistry"] = mirrors.images[registries.CERT_MANAGER]
    return release("cert-manager", "cert-manager", folder, mirrors, values)


def lws(folder: str | None = None, mirrors: Mirrors = NONE) -> Release:
    """LeaderWorkerSet, for models that span hosts. Its controller issues its own certificates."""
    # The chart in the Go module refers to the mutable image tag `main`.
    tag = f"v{versions.chart('lws').version}"
    # The chart's default of 1 CPU and 1Gi fills a small system node, and most stacks have no model that spans hosts
    # (kubernetes-sigs/lws charts/lws/values.yaml v0.9.0).
    resources: JsonObject = {"requests": {"cpu": "100m", "memory": "256Mi"}}
    manager: JsonObject = {"tag": tag, **_moved("repository", "registry.k8s.io/lws/lws", mirrors)}
    return release("lws", "lws-system", folder, mirrors, {"image": {"manager": manager}, "resources": resources})


def kserve_crds(folder: str | None = None, mirrors: Mirrors = NONE) -> Release:
    """KServe's CRDs. Their conversion webhook is hard-coded to the namespace ``kserve``."""
    return release(kserve.CRD_CHART, kserve.NAMESPACE, folder, mirrors)


def kserve_controller(folder: str | None = None, mirrors: Mirrors = NONE) -> Release:
    """KServe's controller for LLMInferenceService."""
    values: JsonObject = {
        "kserve": {
            "llmisvc": {
                # GKE owns the InferencePool CRD from 1.34.0-gke.1626000 on: two owners would overwrite each other's
                # changes.
                "createGIECRDs": False,
                "controller": {
                    **_moved("image", "docker.io/kserve/llmisvc-controller", mirrors),
                    # Otherwise a webhook rejects the deletion of the presets, and `pulumi destroy` fails.
                    "env": [{"name": "PREVENT_WELL_KNOWN_CONFIG_DELETION", "value": "false"}],
                    # The chart's 300Mi is tight for informers of three kinds with 1-2 MB schemas.
                    "resources": {
                        "requests": {"cpu": "100m", "memory": "512Mi"},
                        "limits": {"cpu": "1", "memory": "1Gi"},
                    },
                },
            },
            "storage": {
                **_moved("image", "docker.io/kserve/storage-initializer", mirrors),
                # The default of 1 CPU and 1Gi is too small for downloads of several GB.
                "resources": {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"cpu": "4", "memory": "16Gi"}},
            },
            "controller": {
                "gateway": {
                    "ingressGateway": {
                        "enableGatewayApi": True,
                        "kserveGateway": f"{naming.GATEWAY_NAMESPACE}/{naming.GATEWAY_NAME}",
                    }
                }
            },
        }
    }
    return release(kserve.CONTROLLER_CHART, kserve.NAMESPACE, folder, mirrors, values)


def kserve_presets(folder: str | None = None, mirrors: Mirrors = NONE) -> Release:
    """KServe's presets, over which our configuration is merged. The chart installs them only if it is enabled."""
    return release(
        kserve.PRESETS_CHART,
        kserve.NAMESPACE,
        folder,
        mirrors,
        {"kserve": {"llmisvcConfigs": {"enabled": True}, "servingruntime": {"enabled": False}}},
    )


PLATFORM = (cert_manager, lws, kserve_crds, kserve_controller, kserve_presets)


WEBHOOK_PORTS: Mapping[str, int] = {"cert-manager": 10250, "lws-system": 9443, kserve.NAMESPACE: 9443}
"""The port of the webhooks of a namespace's controllers, by namespace; from the charts' values."""


def namespaces() -> frozenset[str]:
    """The namespaces of the platform's controllers, in which no model may run."""
    return frozenset(release().namespace for release in PLATFORM)
