"""The objects of a component, and Kubernetes' own kinds that several have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from llmd_gke.json_types import JsonObject, kubernetes_object
from llmd_gke.manifests.charts import Release


@dataclass(frozen=True)
class Named:
    """One object or Helm release. ``name`` ends its resource's name; ``after`` names those that it waits for: earlier
    ones of its list, or what the component brings. ``of`` begins its resource's name instead of the component's: the
    resource stays the same when another version of the model begins to carry it.
    """

    name: str
    manifest: JsonObject | Release
    after: tuple[str, ...] = ()
    of: str | None = None


def named(manifests: Mapping[str, JsonObject], *after: str) -> list[Named]:
    """The objects of a table by name, which wait for the same."""
    return [Named(name, manifest, after) for name, manifest in manifests.items()]


def names(*objects: Iterable[Named]) -> tuple[str, ...]:
    """The names of several lists of objects, to wait for all of them."""
    return tuple(one.name for some in objects for one in some)


def account(name: str, namespace: str, *, pull_secret: str | None = None) -> JsonObject:
    """A ServiceAccount whose pods have no token for the API server."""
    made = kubernetes_object("v1", "ServiceAccount", name, namespace, automountServiceAccountToken=False)
    return made if pull_secret is None else {**made, "imagePullSecrets": [{"name": pull_secret}]}


def secret(name: str, namespace: str, data: JsonObject, *, type_: str | None = "Opaque") -> JsonObject:
    """A Secret with texts by key."""
    made = kubernetes_object("v1", "Secret", name, namespace, stringData=data)
    return made if type_ is None else {**made, "type": type_}
