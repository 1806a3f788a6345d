"""Installs the CRDs, as GKE does once the Gateway API is on: upstream's from their Go modules, GKE's own from here."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

from llmd_common.kubernetes.client import Kube, NotFound, Resource, Unreachable
from llmd_common.kubernetes.fields import Object
from localcloud.gke_gateway.crds import gke, upstream

MANAGER = "gke-gateway-api"
DEFINITIONS = Resource("apiextensions.k8s.io/v1", "customresourcedefinitions", namespaced=False)

ESTABLISHED_SECONDS = 30.0


def definitions(folder: Path) -> list[Object]:
    """Every CustomResourceDefinition; ``folder`` holds upstream's. Raises ``SetUpFailed`` where they are not there."""
    return [cast("Object", definition) for definition in (*upstream.definitions(folder), *gke.definitions())]


async def install_crds(kube: Kube, definitions: list[Object]) -> None:
    """Applies the definitions and waits until every one is served. Raises ``TimeoutError`` where one never is."""
    for definition in definitions:
        await kube.apply(DEFINITIONS, definition, manager=MANAGER)
    async with asyncio.timeout(ESTABLISHED_SECONDS):
        for definition in definitions:
            while not await _established(kube, definition["metadata"]["name"]):
                await asyncio.sleep(0.1)


async def _established(kube: Kube, name: str) -> bool:
    try:
        definition = await kube.get(DEFINITIONS, name)
    except (NotFound, *Unreachable):
        return False
    conditions = definition.get("status", {}).get("conditions", [])
    return any(entry["type"] == "Established" and entry["status"] == "True" for entry in conditions)
