"""Every resource type of Compute Engine whose rules the emulator applies."""

from __future__ import annotations

from localcloud.google_api.rules import compute, nat, network, security_policies
from localcloud.google_api.rules.resource_type import ResourceType

KINDS: dict[str, ResourceType] = {**compute.KINDS, **network.KINDS, **nat.KINDS, **security_policies.KINDS}
