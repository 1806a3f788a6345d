"""Installs the CRDs, as GKE does once the Gateway API is on: upstream's from their Go modules, GKE's own from here."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import yaml

from llmd_gke.catalog import versions
from llmd_gke.laptop import modules
from llmd_gke.laptop.gateway.crds import gke
from llmd_gke.laptop.kube import Kube, NotFound, Object, Resource, Unreachable

MANAGER = "gke-gateway-api"
DEFINITIONS = Resource("apiextensions.k8s.io/v1", "customresourcedefinitions", namespaced=False)

GATEWAY_API = ("sigs.k8s.io/gateway-api", "config/crd/standard")
INFERENCE_EXTENSION = ("sigs.k8s.io/gateway-api-inference-extension", "config/crd/bases")

GATEWAY_KINDS = ("gatewayclasses", "gateways", "httproutes", "referencegrants")
"""The kinds that are served here. GKE has more of them (GRPCRoute, BackendTLSPolicy): each costs the API server memory,
and the program uses none."""

POOL_FILE = "inference.networking.k8s.io_inferencepools.yaml"
"""The only one of that module that GKE installs: v1alpha2 pools and objectives are the user's own affair."""

ESTABLISHED_SECONDS = 30.0


def definitions() -> list[Object]:
    """Every CustomResourceDefinition. Raises ``SetUpFailed`` where a module cannot be had."""
    files = [_folder(*GATEWAY_API) / f"gateway.networking.k8s.io_{plural}.yaml" for plural in GATEWAY_KINDS]
    files.append(_folder(*INFERENCE_EXTENSION) / POOL_FILE)
    found = [_read(file) for file in files]
    return [*found, *(cast("Object", definition) for definition in gke.definitions())]


def _folder(module: str, folder: str) -> Path:
    return modules.folder(module, versions.modules()[module]) / folder


def _read(file: Path) -> Object:
    # The C parser: the other takes seconds for HTTPRoute.
    loaded: object = yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return cast("Object", loaded)


async def install_crds(kube: Kube, found: list[Object] | None = None) -> None:
    """Applies the definitions and waits until every one is served. Raises ``TimeoutError`` where one never is."""
    found = definitions() if found is None else found
    for definition in found:
        await kube.apply(DEFINITIONS, definition, manager=MANAGER)
    async with asyncio.timeout(ESTABLISHED_SECONDS):
        for definition in found:
            while not await _established(kube, definition["metadata"]["name"]):
                await asyncio.sleep(0.1)


async def _established(kube: Kube, name: str) -> bool:
    try:
        definition = await kube.get(DEFINITIONS, name)
    except (NotFound, *Unreachable):
        return False
    conditions = definition.get("status", {}).get("conditions", [])
    return any(entry["type"] == "Established" and entry["status"] == "True" for entry in conditions)
