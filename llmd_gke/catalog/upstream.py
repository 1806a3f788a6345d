"""Links to the sources of the modules in ``versions.toml``, at their pinned versions."""

from __future__ import annotations

from pathlib import PurePosixPath

from llmd_gke.catalog import versions

REPOSITORIES = {
    "github.com/envoyproxy/ai-gateway": "envoyproxy/ai-gateway",
    "github.com/envoyproxy/gateway": "envoyproxy/gateway",
    "github.com/kedacore/keda/v2": "kedacore/keda",
    "github.com/kserve/kserve": "kserve/kserve",
    "istio.io/api": "istio/api",
    "sigs.k8s.io/gateway-api": "kubernetes-sigs/gateway-api",
    "sigs.k8s.io/gateway-api-inference-extension": "kubernetes-sigs/gateway-api-inference-extension",
    "sigs.k8s.io/lws": "kubernetes-sigs/lws",
}


def source(module: str, path: str) -> str:
    """The address of a Go module's file (with a suffix) or folder. Raises ``KeyError`` for one that is not pinned."""
    view = "blob" if PurePosixPath(path).suffix else "tree"
    return f"https://github.com/{REPOSITORIES[module]}/{view}/{versions.modules()[module]}/{path}"


def gateway_api(path: str) -> str:
    """The address of a file or folder of the Gateway API, at the pinned version."""
    return source("sigs.k8s.io/gateway-api", path)


def inference_extension(path: str) -> str:
    """The address of a file or folder of the Gateway API inference extension, which defines InferencePool."""
    return source("sigs.k8s.io/gateway-api-inference-extension", path)
