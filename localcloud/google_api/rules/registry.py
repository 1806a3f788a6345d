"""Every resource type whose rules the emulator applies."""

from __future__ import annotations

from localcloud.google_api.rules import compute, container, monitoring, nat, network, security_policies
from localcloud.google_api.rules.resource_type import ResourceType

KINDS: dict[str, ResourceType] = {
    **compute.KINDS, **network.KINDS, **nat.KINDS, **container.KINDS, **monitoring.KINDS, **security_policies.KINDS,
}  # fmt: skip
