"""Where upstream's own files are: CRDs, charts and source of the pinned versions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import cast

import pytest
import yaml

from llmd_gke.catalog import front_door, versions
from localcloud.gke_gateway.crds import gke

ROOT = Path(__file__).parents[2]

KSERVE = "github.com/kserve/kserve"
GATEWAY_API = "sigs.k8s.io/gateway-api"
INFERENCE_EXTENSION = "sigs.k8s.io/gateway-api-inference-extension"
LWS = "sigs.k8s.io/lws"
ENVOY_GATEWAY = "github.com/envoyproxy/gateway"
CERT_MANAGER = "github.com/cert-manager/cert-manager"
KEDA = "github.com/kedacore/keda/v2"
AI_GATEWAY = "github.com/envoyproxy/ai-gateway"
ISTIO = "istio.io/api"


@cache
def module(path: str) -> Path:
    """The folder of a Go module at the version of ``versions.toml``; fetched when the module cache lacks it."""
    version = versions.modules().get(path) or versions.chart("cert-manager").version
    if shutil.which("go") is None:
        pytest.skip("Go is not installed: it brings the modules with KServe's and the Gateway API's CRDs")
    cache_folder = subprocess.run(["go", "env", "GOMODCACHE"], check=True, capture_output=True, text=True)
    folder = Path(cache_folder.stdout.strip()) / f"{path}@{version}"
    # Go unpacks in place, and a file beside the download says so meanwhile (cmd/go/internal/modfetch, ``Download``).
    partial = folder.parents[len(Path(path).parts) - 1] / "cache" / "download" / path / "@v" / f"{version}.partial"
    return folder if folder.is_dir() and not partial.exists() else _download(f"{path}@{version}")


def _download(module_at_version: str) -> Path:
    with tempfile.TemporaryDirectory() as empty:
        answer = subprocess.run(
            ["go", "mod", "download", "-json", module_at_version],
            cwd=empty,
            env={**os.environ, "GOFLAGS": "-mod=mod"},
            capture_output=True,
            text=True,
            check=False,
        )
    if answer.returncode != 0:
        pytest.fail(f"go mod download {module_at_version} failed: {answer.stdout}{answer.stderr}")
    return Path(json.loads(answer.stdout)["Dir"])


@cache
def read(file: Path) -> dict[str, object]:
    # The C parser takes a second for KServe's two megabytes, the other half a minute.
    text = file.read_text(encoding="utf-8")
    # Envoy Gateway's are files of a chart, each inside of one condition.
    plain = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("{{"))
    loaded: object = yaml.load(plain, yaml.CSafeLoader)
    return cast("dict[str, object]", loaded)


_GATEWAY_API = "config/crd/standard/gateway.networking.k8s.io_{}.yaml"
_KSERVE = "config/crd/full/llmisvc/serving.kserve.io_{}.yaml"
_ENVOY_GATEWAY = "charts/gateway-crds-helm/templates/generated/gateway.envoyproxy.io_{}.yaml"
_AI_GATEWAY = "manifests/charts/ai-gateway-crds-helm/templates/aigateway.envoyproxy.io_{}.yaml"

_KEDA = "config/crd/bases/keda.sh_{}.yaml"

_LOCATIONS: dict[str, tuple[str, str]] = {
    "AIGatewayRoute": (AI_GATEWAY, _AI_GATEWAY.format("aigatewayroutes")),
    "Backend": (ENVOY_GATEWAY, _ENVOY_GATEWAY.format("backends")),
    "BackendTrafficPolicy": (ENVOY_GATEWAY, _ENVOY_GATEWAY.format("backendtrafficpolicies")),
    "ClientTrafficPolicy": (ENVOY_GATEWAY, _ENVOY_GATEWAY.format("clienttrafficpolicies")),
    "EnvoyExtensionPolicy": (ENVOY_GATEWAY, _ENVOY_GATEWAY.format("envoyextensionpolicies")),
    "EnvoyPatchPolicy": (ENVOY_GATEWAY, _ENVOY_GATEWAY.format("envoypatchpolicies")),
    "EnvoyProxy": (ENVOY_GATEWAY, _ENVOY_GATEWAY.format("envoyproxies")),
    "HTTPRouteFilter": (ENVOY_GATEWAY, _ENVOY_GATEWAY.format("httproutefilters")),
    "SecurityPolicy": (ENVOY_GATEWAY, _ENVOY_GATEWAY.format("securitypolicies")),
    "Certificate": (CERT_MANAGER, "deploy/crds/cert-manager.io_certificates.yaml"),
    "ClusterTriggerAuthentication": (KEDA, _KEDA.format("clustertriggerauthentications")),
    "ScaledObject": (KEDA, _KEDA.format("scaledobjects")),
    "BackendTLSPolicy": (GATEWAY_API, _GATEWAY_API.format("backendtlspolicies")),
    "GRPCRoute": (GATEWAY_API, _GATEWAY_API.format("grpcroutes")),
    "ListenerSet": (GATEWAY_API, _GATEWAY_API.format("listenersets")),
    "TLSRoute": (GATEWAY_API, _GATEWAY_API.format("tlsroutes")),
    "Gateway": (GATEWAY_API, _GATEWAY_API.format("gateways")),
    "GatewayClass": (GATEWAY_API, _GATEWAY_API.format("gatewayclasses")),
    "HTTPRoute": (GATEWAY_API, _GATEWAY_API.format("httproutes")),
    "InferencePool": (INFERENCE_EXTENSION, "config/crd/bases/inference.networking.k8s.io_inferencepools.yaml"),
    "LLMInferenceService": (KSERVE, _KSERVE.format("llminferenceservices")),
    "LLMInferenceServiceConfig": (KSERVE, _KSERVE.format("llminferenceserviceconfigs")),
}
_ISTIO = ("AuthorizationPolicy", "DestinationRule", "PeerAuthentication", "Telemetry")
KINDS = (*_LOCATIONS, *_ISTIO, *gke.kinds(), *gke.unpublished(), "InferenceObjective")
OUR_CHART = ROOT / "charts" / front_door.CRDS_CHART / "templates"


@cache
def crd(kind: str) -> dict[str, object]:
    """The CustomResourceDefinition of a kind, of GKE's kinds what is recorded of it, of those in no registry our own.

    Raises ``KeyError`` for a kind nobody has placed here.
    """
    if kind in (*gke.kinds(), *gke.unpublished()):
        return cast("dict[str, object]", gke.definition(kind))
    if kind == "InferenceObjective":
        return read(OUR_CHART / "inferenceobjective.yaml")
    if kind in _ISTIO:  # one file with all kinds
        documents = yaml.load_all(
            (module(ISTIO) / "kubernetes/customresourcedefinitions.gen.yaml").read_text(), yaml.CSafeLoader
        )
        return next(one for one in documents if one["spec"]["names"]["kind"] == kind)
    path, file = _LOCATIONS[kind]
    return read(module(path) / file)


def recorded(kind: str) -> dict[str, object]:
    """The CustomResourceDefinition of a kind in our own chart."""
    return read(OUR_CHART / f"{kind.lower()}.yaml")


def chart_values(path: str, chart: str) -> dict[str, object]:
    return read(module(path) / "charts" / chart / "values.yaml")
