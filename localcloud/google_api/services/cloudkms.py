"""Cloud KMS: keys are older than the stack, so every key that is asked for is there."""

from __future__ import annotations

from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.services import policies
from localcloud.providers.protocol.values import JsonObject


@answers("cloudkms.projects.locations.keyRings.cryptoKeys.get")
def key(request: Request) -> JsonObject:
    """Returns a key for encryption and decryption."""
    name = request.at["name"]
    primary: JsonObject = {"name": f"{name}/cryptoKeyVersions/1", "state": "ENABLED"}
    return {"name": name, "purpose": "ENCRYPT_DECRYPT", "createTime": "2026-01-01T00:00:00Z", "primary": primary}


@answers("cloudkms.projects.locations.keyRings.get")
def ring(request: Request) -> JsonObject:
    """Returns a key ring."""
    return {"name": request.at["name"], "createTime": "2026-01-01T00:00:00Z"}


@answers("cloudkms.projects.locations.keyRings.cryptoKeys.getIamPolicy")
def policy(request: Request) -> JsonObject:
    """Returns the IAM policy of a key."""
    return policies.read(request.cloud, request.at["resource"])
