"""Helm charts of the platform and their values.

Value names: the charts' own ``values.yaml`` at the versions of ``catalog/versions.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llmd_gke.catalog import kserve, versions
from llmd_gke.manifests import naming
from llmd_gke.manifests.types import JsonObject


@dataclass(frozen=True)
class Release:
    """One Helm release. ``chart`` is an OCI address or a folder; ``version`` is ``None`` for a folder."""

    name: str
    namespace: str
    chart: str
    version: str | None
    values: JsonObject


def _release(name: str, namespace: str, folder: str | None, values: JsonObject | None = None) -> Release:
    pinned = versions.chart(name)
    if folder is None:
        return Release(name, namespace, pinned.home, pinned.version, values or {})
    return Release(name, namespace, f"{folder.rstrip('/')}/{name}", None, values or {})


def cert_manager(folder: str | None = None) -> Release:
    """cert-manager: KServe's webhooks need it (its chart renders an Issuer whatever the values say)."""
    return _release("cert-manager", "cert-manager", folder, {"crds": {"enabled": True, "keep": False}})


def lws(folder: str | None = None) -> Release:
    """LeaderWorkerSet, for models that span hosts. It makes its own certificates."""
    # The chart as kept in the module names the moving image tag `main`.
    tag = f"v{versions.chart('lws').version}"
    # The chart's default of 1 CPU and 1Gi fills a small system node, and most stacks have no model that spans hosts
    # (kubernetes-sigs/lws charts/lws/values.yaml v0.9.0).
    resources: JsonObject = {"requests": {"cpu": "100m", "memory": "256Mi"}}
    return _release("lws", "lws-system", folder, {"image": {"manager": {"tag": tag}}, "resources": resources})


def kserve_crds(folder: str | None = None) -> Release:
    """KServe's CRDs. Their conversion webhook is hard-coded to the namespace ``kserve``."""
    return _release(kserve.CRD_CHART, kserve.NAMESPACE, folder)


def kserve_controller(folder: str | None = None) -> Release:
    """KServe's controller for LLMInferenceService."""
    values: JsonObject = {
        "kserve": {
            "llmisvc": {
                # GKE owns the InferencePool CRD from 1.34.0-gke.1626000 on: two owners would fight over it.
                "createGIECRDs": False,
                "controller": {
                    # Otherwise a webhook refuses to delete the presets, and `pulumi destroy` with it.
                    "env": [{"name": "PREVENT_WELL_KNOWN_CONFIG_DELETION", "value": "false"}],
                    # The chart's 300Mi is tight for informers of three kinds with 1-2 MB schemas.
                    "resources": {
                        "requests": {"cpu": "100m", "memory": "512Mi"},
                        "limits": {"cpu": "1", "memory": "1Gi"},
                    },
                },
            },
            "storage": {
                # The default of 1 CPU and 1Gi is too small for downloads of several GB.
                "resources": {
                    "requests": {"cpu": "1", "memory": "2Gi"},
                    "limits": {"cpu": "4", "memory": "16Gi"},
                }
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
    return _release(kserve.CONTROLLER_CHART, kserve.NAMESPACE, folder, values)


def kserve_presets(folder: str | None = None) -> Release:
    """KServe's presets, which ours is merged over. Off in the chart unless asked for."""
    return _release(
        kserve.PRESETS_CHART,
        kserve.NAMESPACE,
        folder,
        {"kserve": {"llmisvcConfigs": {"enabled": True}, "servingruntime": {"enabled": False}}},
    )


PLATFORM = (cert_manager, lws, kserve_crds, kserve_controller, kserve_presets)
"""Every release of the platform."""


WEBHOOK_PORTS: Mapping[str, int] = {"cert-manager": 10250, "lws-system": 9443, kserve.NAMESPACE: 9443}
"""Where the controllers of a namespace answer the API server, by the charts' values."""


def namespaces() -> frozenset[str]:
    """Where the platform's controllers run, and no model does."""
    return frozenset(release().namespace for release in PLATFORM)
