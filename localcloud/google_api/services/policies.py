"""IAM policies of any resource: read, and written with the version that was read."""

from __future__ import annotations

from typing import cast

from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.rules import serviceaccount
from localcloud.providers.protocol.values import JsonObject, JsonValue, objects, text, texts

EMPTY = "ACAB"
"""The version of a policy that nobody has written."""


def read(cloud: EmulatedCloud, key: str) -> JsonObject:
    """The policy of a resource; an empty one has a version, too."""
    return cloud.policies.get(key) or {"version": 1, "etag": EMPTY, "bindings": []}


def write(cloud: EmulatedCloud, key: str, policy: JsonObject, project: str) -> JsonObject:
    """Replaces a policy.

    Raises :class:`ApiError` 409 for one that was read before somebody else wrote, 400 for a member that does not exist.
    """
    present = read(cloud, key)
    given = text(policy, "etag")
    if given and given != text(present, "etag"):
        message = (
            "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff."
        )
        raise ApiError(409, message, "aborted")
    with cloud.state() as cloud_state:
        for binding in objects(policy, "bindings"):
            for member in texts(binding, "members"):
                sort, _, address = member.partition(":")
                if sort == "serviceAccount" and not serviceaccount.exists(cloud_state, project, address):
                    raise ApiError(400, f"Service account {address} does not exist.")
    bindings = [cast("JsonValue", one) for one in objects(policy, "bindings") if texts(one, "members")]
    cloud.policies[key] = {"version": policy.get("version", 1), "bindings": bindings, "etag": cloud.etag()}
    if not bindings:
        del cloud.policies[key]
    return read(cloud, key)
