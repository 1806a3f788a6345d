"""The CRDs that are upstream's own, from their published Go modules, laid out before a cluster starts.

Inside the namespaces there is no network and no Go: the gateway daemon reads these files and nothing else.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml

from llmd_common.problems import SetUpFailed
from localcloud.go_builds import modules
from localcloud.product import versions

GATEWAY_API = "sigs.k8s.io/gateway-api"
INFERENCE_EXTENSION = "sigs.k8s.io/gateway-api-inference-extension"

GATEWAY_KINDS = ("gatewayclasses", "gateways", "httproutes", "referencegrants")
"""The kinds that are served here. GKE has more of them (GRPCRoute, BackendTLSPolicy): each costs the API server memory,
and the program uses none."""

FILES = {
    GATEWAY_API: tuple(f"config/crd/standard/gateway.networking.k8s.io_{plural}.yaml" for plural in GATEWAY_KINDS),
    # The only one of that module that GKE installs: v1alpha2 pools and objectives are the user's own affair.
    INFERENCE_EXTENSION: ("config/crd/bases/inference.networking.k8s.io_inferencepools.yaml",),
}


def prepare(folder: Path) -> Path:
    """Copies the files at the versions of ``catalog/versions.toml`` into ``folder``, and returns it.

    A second call changes nothing and needs no Go; files of other versions are replaced. Raises ``SetUpFailed`` when a
    module cannot be downloaded or holds no such file.
    """
    stamp = _stamp()
    if modules.is_made(folder, stamp):
        return folder
    with modules.making(folder, stamp) as made:
        made.mkdir()
        for module, files in FILES.items():
            version = versions.modules()[module]
            unpacked = modules.folder(module, version)
            for file in files:
                _copy(module, version, unpacked / file, made)
    return folder


def definitions(folder: Path) -> list[dict[str, object]]:
    """The definitions that :func:`prepare` has laid out there. Raises ``SetUpFailed`` where it has not."""
    if not modules.is_made(folder, _stamp()):
        raise SetUpFailed(
            f"The CRDs of the Gateway API are not in {folder}.\nFix: make up CLOUD=laptop, which downloads them."
        )
    # The C parser: the other takes seconds for HTTPRoute.
    return [
        yaml.load((folder / Path(file).name).read_text(encoding="utf-8"), yaml.CSafeLoader)
        for files in FILES.values()
        for file in files
    ]


def _copy(module: str, version: str, file: Path, into: Path) -> None:
    try:
        shutil.copyfile(file, into / file.name)
    except FileNotFoundError as error:
        raise SetUpFailed(
            f"{module} {version} has no {file.name}.\n"
            "Fix: correct its path in localcloud/gke_gateway/crds/upstream.py, or choose another version in "
            "llmd_gke/catalog/versions.toml."
        ) from error


def _stamp() -> str:
    modules = versions.modules()
    return "".join(f"{module}@{modules[module]} {file}\n" for module, files in FILES.items() for file in files)
