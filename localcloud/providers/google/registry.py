"""Every resource type of the Google stand-in, and what Pulumi's bridge does for all of them."""

from __future__ import annotations

import hashlib
import re

from localcloud.providers.google import (
    artifactregistry,
    compute,
    container,
    dns,
    monitoring,
    nat,
    network,
    projects,
    schema,
    security_policies,
    serviceaccount,
    storage,
)
from localcloud.providers.google.resource_type import ResourceType
from localcloud.providers.protocol.difference import PropertyChange, names
from localcloud.providers.protocol.rules import Autoname, ProviderRefusal
from localcloud.providers.protocol.values import JsonObject, JsonValue, Path, dig

KINDS: dict[str, ResourceType] = {
    **artifactregistry.KINDS, **compute.KINDS, **network.KINDS, **nat.KINDS, **container.KINDS, **dns.KINDS,
    **monitoring.KINDS, **projects.KINDS, **security_policies.KINDS, **serviceaccount.KINDS, **storage.KINDS,
}  # fmt: skip


def kind_of(name: str) -> ResourceType:
    """The resource type of that name. Raises :class:`ProviderRefusal`, which explains how to add it, for others."""
    kind = KINDS.get(name)
    if kind is None:
        raise ProviderRefusal(
            f"the gcp stand-in does not know {name}, so it rejects it. To add it: write a ResourceType with its "
            "rules in the module of its group, and run `python -m localcloud.providers.google.generate`"
        )
    return kind


_GROUPS = {"artifactregistry": "artifact_registry", "projects": "project", "serviceaccount": "service_account"}
"""Groups whose name differs from Pulumi's in the published provider."""


def upstream_name(token: str) -> str:
    """The type's name in the published provider: ``google_compute_region_ssl_policy``."""
    _, path, name = token.split(":")
    group = path.partition("/")[0]
    parts = "_".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]+", name)).lower()
    return KINDS[token].upstream or f"google_{_GROUPS.get(group, group)}_{parts}"


def made_up(name: str, autoname: Autoname, longest: int) -> str:
    """The bridge's name: the resource's, a dash, seven hex digits (bridge pkg/tfbridge, AutoNameOptions Randlen 7)."""
    if autoname.disabled:
        raise ProviderRefusal("automatic naming is disabled, the resource needs a name")
    if autoname.proposed:
        return autoname.proposed
    random = hashlib.sha256(autoname.seed or name.encode()).hexdigest()[:7]
    return f"{name[: longest - 8]}-{random}"


def forces(type_: str, change: PropertyChange, old: JsonObject, new: JsonObject) -> bool:
    """Whether a change needs a new object: what the schema marks ``ForceNew``, and what ``CustomizeDiff`` forces.

    A block that is marked forces only where it comes or goes (plugin SDK, ``helper/schema`` schemaMap.diffList). Of
    what only the official plugin has there are no facts: the worst is assumed.
    """
    where = ".".join(names(change.path))
    judged = KINDS[type_].force_new_if
    if where in judged:
        return judged[where](dig(old, where), dig(new, where))
    marked = schema.facts(type_).get("forceNew", [])
    if where in marked and (change.kind != "UPDATE" or not schema.is_block(type_, where)):
        return True
    parts = {".".join(names(part)) for part in change.parts}
    leaves = [path for path in marked if not schema.is_block(type_, path)]
    leaves += schema.facts(type_).get("onlyOfficial", [])
    return any(part == path or part.startswith(f"{path}.") for part in parts for path in leaves)


def secrets_of(type_: str) -> list[Path]:
    """Outputs that the provider marks as secret: by the schema, and pulumi-gcp the labels that it computes."""
    marked: list[Path] = [tuple(path.split(".")) for path in schema.facts(type_).get("secrets", [])]
    return [*marked, *([("pulumiLabels",), ("effectiveLabels",)] if KINDS[type_].labels else [])]


def without_defaults(inputs: JsonObject) -> JsonObject:
    """The inputs without ``__defaults``, which the bridge adds."""
    return {key: value for key, value in inputs.items() if key != "__defaults"}


def defaults_of(inputs: JsonObject) -> list[JsonValue]:
    """The inputs that the bridge filled in, as it notes them."""
    listed = inputs.get("__defaults")
    return listed if isinstance(listed, list) else []
