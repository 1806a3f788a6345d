"""Rules about what a cluster has before a stack comes: versions, and owners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from llmd_gke.catalog.existing import Part
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Value
from llmd_gke.rules.versions import version_of


def version_of_images(part: Part, images: Iterable[str]) -> str:
    """The tag of the controller's image among those of a Deployment; empty if none is the controller's."""
    for image in images:
        path = image.partition("@")[0]
        tag = path.rpartition("/")[2].partition(":")[2]
        if f"/{path.removesuffix(f':{tag}')}".endswith(tuple(f"/{known}" for known in part.images)):
            return tag or "without a tag"
    return ""


def version(part: Part, found: str) -> Iterator[Finding]:
    """A controller's version is in the tested range; an unknown version, or a newer minor version, is a warning."""
    numbers, floor, tested = version_of(found), version_of(part.floor), version_of(part.tested)
    allowed = f"{part.floor} to {part.tested.removeprefix('v')}"
    if floor is None or tested is None:
        raise ValueError(part.title)
    if numbers is None:
        problem = f"the version of {part.title} cannot be told from its image's tag ({found or 'none'})"
        yield Finding("existing-version", problem, allowed, f"make sure that it is {allowed}", severity="warning")
    elif numbers < floor:
        problem = f"{part.title} {found} is too old: {part.floor} is the oldest that works"
        yield Finding("existing-version", problem, allowed, f"upgrade it to {part.tested}, by whoever installed it")
    elif numbers[:2] > tested[:2]:
        problem = f"{part.title} {found} is newer than what was tested"
        yield Finding("existing-version", problem, allowed, "try a model before you rely on it", severity="warning")


ANNOTATIONS = {
    "meta.helm.sh/release-name": "Helm release",
    "argocd.argoproj.io/tracking-id": "Argo CD application",
    "configmanagement.gke.io/managed": "Config Sync",
    "config.k8s.io/owning-inventory": "kpt inventory",
}
LABELS = {
    "argocd.argoproj.io/instance": "Argo CD application",
    "kustomize.toolkit.fluxcd.io/name": "Flux Kustomization",
    "helm.toolkit.fluxcd.io/name": "Flux HelmRelease",
}
PULUMI = "a Pulumi stack"
MANAGERS = {"pulumi-kubernetes": PULUMI, "Terraform": "Terraform", "HashiCorp": "Terraform"}
"""Markers of owners: annotations, labels, and the beginnings of names of field managers."""


def owner(live: Mapping[str, Value]) -> str:
    """Who would change an object back, by its markers; empty for one that was made by hand."""
    metadata = Input(live).get("metadata")
    for field, markers in (("annotations", ANNOTATIONS), ("labels", LABELS)):
        for marker, title in markers.items():
            if value := metadata.get(field, marker).text():
                return f"{title} {value.partition(':')[0]}"
    for reference in metadata.get("ownerReferences").each():
        return f"{reference.get('kind').text()} {reference.get('name').text()}"
    for manager in (entry.get("manager").text() or "" for entry in metadata.get("managedFields").each()):
        for prefix, title in MANAGERS.items():
            if manager.startswith(prefix):
                return f"{title} (field manager {manager})"
    return ""
