"""Every resource type whose rules the emulator applies."""

from __future__ import annotations

from localcloud.providers.google import (
    artifactregistry,
    compute,
    container,
    dns,
    monitoring,
    nat,
    network,
    projects,
    security_policies,
    serviceaccount,
    storage,
)
from localcloud.providers.google.resource_type import ResourceType

KINDS: dict[str, ResourceType] = {
    **artifactregistry.KINDS, **compute.KINDS, **network.KINDS, **nat.KINDS, **container.KINDS, **dns.KINDS,
    **monitoring.KINDS, **projects.KINDS, **security_policies.KINDS, **serviceaccount.KINDS, **storage.KINDS,
}  # fmt: skip
