"""Priorities of callers for the picker that runs in place of llm-d's: InferenceObjectives in the group that it reads.

llm-d's picker reads ``llm-d.ai/v1alpha2`` (llm-d/llm-d-router v0.9.0 ``config/crd/bases``), which is what the program
creates. That of the Gateway API Inference Extension reads the group from before the move, with the same fields
(v1.5.0 ``pkg/epp/controller/inferenceobjective_reconciler.go``), and only if the kind exists when the picker starts
(``pkg/epp/server/controller_config.go``). So the older kind is created with the newer one, and every object is copied.
"""

from __future__ import annotations

import asyncio
import logging

from llmd_common.kubernetes.cache import mirrors
from llmd_common.kubernetes.client import Kube, KubeError, NotFound, Resource, Unreachable
from llmd_common.kubernetes.fields import Key, Object, key, part, text

log = logging.getLogger(__name__)

DEFINITIONS = Resource("apiextensions.k8s.io/v1", "customresourcedefinitions", namespaced=False)
PLURAL = "inferenceobjectives"
READ_GROUP = "inference.networking.x-k8s.io"
CREATED = Resource("llm-d.ai/v1alpha2", PLURAL)
READ = Resource(f"{READ_GROUP}/v1alpha2", PLURAL)
MANAGER = "laptop-cloud-objectives"
COPY = {"app.kubernetes.io/managed-by": MANAGER}

PAUSE_SECONDS = 1.0
"""Seconds between two looks for the kind, and before another attempt after an error."""


def definition() -> Object:
    """The older kind's CustomResourceDefinition. Its schema is open: what is copied was checked in the newer kind."""
    names = {"kind": "InferenceObjective", "listKind": "InferenceObjectiveList", "plural": PLURAL}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha2", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{READ_GROUP}"},
        "spec": {
            "group": READ_GROUP,
            "names": {**names, "singular": "inferenceobjective"},
            "scope": "Namespaced",
            "versions": [{**version, "subresources": {"status": {}}}],
        },
    }


def copy(objective: Object) -> Object:
    """The same objective in the older group."""
    namespace, name = key(objective)
    return {
        "apiVersion": READ.group_version,
        "kind": "InferenceObjective",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(COPY)},
        "spec": part(objective, "spec"),
    }


def is_copy(objective: Object) -> bool:
    """Whether an objective of the older group was created here, and not by a user."""
    return text(objective, "metadata", "labels", "app.kubernetes.io/managed-by") == MANAGER


def changes(created: list[Object], read: list[Object]) -> tuple[list[Object], list[Key]]:
    """Copies to write, and the keys of copies whose objective was deleted. A user's own object is left alone."""
    current = {key(one): one for one in read}
    wanted = {key(one): copy(one) for one in created}
    write = [
        one
        for where, one in wanted.items()
        if where not in current or (is_copy(current[where]) and part(current[where], "spec") != one["spec"])
    ]
    return write, [where for where, one in current.items() if is_copy(one) and where not in wanted]


async def run(kube: Kube) -> None:
    """Copies until cancelled. Does nothing in a cluster where the newer kind does not exist."""
    while not await _begin(kube):
        await asyncio.sleep(PAUSE_SECONDS)
    async with mirrors(kube, CREATED, READ) as (changed, (created, read)):
        while True:
            changed.clear()
            write, delete = changes(list(created), list(read))
            try:
                for one in write:
                    read.put(await kube.apply(READ, one, manager=MANAGER))
                for namespace, name in delete:
                    await kube.delete(READ, name, namespace)
            except (*Unreachable, KubeError) as error:
                log.info("objectives could not be copied: %s", error)
                await asyncio.sleep(PAUSE_SECONDS)
                changed.set()
            await changed.wait()


async def _begin(kube: Kube) -> bool:
    """Creates the older kind if the newer one is served; whether it is."""
    try:
        await kube.list(CREATED)
        await kube.apply(DEFINITIONS, definition(), manager=MANAGER)
    except NotFound:
        return False
    except (*Unreachable, KubeError) as error:
        log.info("the older kind of objectives could not be created: %s", error)
        return False
    return True
