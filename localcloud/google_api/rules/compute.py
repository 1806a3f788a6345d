"""Compute Engine: addresses, certificates, policies. The VPC is in ``network.py`` and ``nat.py``."""

from __future__ import annotations

from localcloud.google_api.rules.forwarding import address_free
from localcloud.google_api.rules.references import (
    ADDRESS,
    NODE_POOL,
    SUBNETWORK,
    link,
    plain_outputs,
    subnetwork_id,
)
from localcloud.google_api.rules.resource_type import (
    CloudState,
    ResourceType,
    TargetResource,
    digits,
    failed,
    in_use,
    missing,
    short,
)
from localcloud.providers.protocol.values import JsonObject, dig, text


def _address_create(cloud_state: CloudState, target: TargetResource) -> None:
    inside, tier, reference = (
        target.text("addressType") == "INTERNAL",
        target.text("networkTier"),
        target.text("subnetwork"),
    )
    problem = ""
    if inside and tier:
        # the text of Compute Engine: GoogleCloudPlatform/magic-modules#7524
        problem = f"'resource.networkTier': '{tier}'. An address with type INTERNAL cannot have a network tier."
    elif reference and not inside:
        # API reference, addresses.subnetwork: "can only be used with INTERNAL type"
        problem = f"'resource.subnetwork': '{reference}'. An address with type EXTERNAL cannot have a subnetwork."
    if problem:
        raise failed("Error creating Address", 400, f"Invalid value for field {problem}", "invalid")
    if reference:
        ident = subnetwork_id(reference, target.project, target.scope["region"])
        if cloud_state.get(SUBNETWORK, ident) is None:
            raise missing("Address", ident)
    wanted = target.text("address")
    if wanted and any(
        dig(r, "computed", "address") == wanted or text(r, "inputs", "address") == wanted
        for r in cloud_state.all(ADDRESS).values()
    ):
        raise failed(
            "Error creating Address", 400, f"Specified IP address is in-use: {wanted}", "ipInUseByAnotherResource"
        )


def _address_outputs(target: TargetResource) -> JsonObject:
    host = int(digits(target.id, 6)) % 250 + 2
    inside = target.text("addressType") == "INTERNAL"
    # 203.0.113.0/24 is reserved for documentation (RFC 5737): nothing answers there.
    return {
        "selfLink": link(target),
        "address": f"10.0.0.{host}" if inside else f"203.0.113.{host}",
        "addressId": int(digits(target.id, 9)),
        "creationTimestamp": "2026-01-01T00:00:00.000-08:00",
        "labelFingerprint": digits(target.id, 12),
        "networkTier": "PREMIUM",
        "purpose": "GCE_ENDPOINT" if inside else "",
        "prefixLength": 0,
        "users": [],
    }


def _policy_renamed(cloud_state: CloudState, target: TargetResource, old: JsonObject) -> None:
    """Rejects a renamed policy: the provider PATCHes it under its new name, which does not exist."""
    del cloud_state
    if text(old, "name") != target.name:
        ident = f"{target.id.rpartition('/')[0]}/{target.name}"
        raise failed("Error updating ResourcePolicy", 404, f"The resource '{ident}' was not found", "notFound")


def _policy_free(cloud_state: CloudState, target: TargetResource) -> None:
    """Rejects the deletion of a resource policy that a node pool's instance group uses."""
    for ident, record in cloud_state.all(NODE_POOL).items():
        policy = text(record, "inputs", "placementPolicy", "policyName")
        if policy and short(policy) == short(target.id) and ident.split("/")[1] == target.project:
            raise in_use("ResourcePolicy", "resourcePolicy", target.id, ident)


KINDS: dict[str, ResourceType] = {
    ADDRESS: ResourceType(
        id="projects/{project}/regions/{region}/addresses/{name}",
        computed=_address_outputs,
        delete=address_free,
        create=_address_create,
    ),
    "gcp:compute/regionSslPolicy:RegionSslPolicy": ResourceType(
        id="projects/{project}/regions/{region}/sslPolicies/{name}",
        computed=lambda target: plain_outputs(target) | {"enabledFeatures": [], "fingerprint": digits(target.id, 12)},
    ),
    "gcp:compute/regionSslCertificate:RegionSslCertificate": ResourceType(
        id="projects/{project}/regions/{region}/sslCertificates/{name}",
        computed=lambda target: (
            plain_outputs(target)
            | {"certificateId": int(digits(target.id, 9)), "expireTime": "2027-01-01T00:00:00.000-08:00"}
        ),
    ),
    "gcp:compute/resourcePolicy:ResourcePolicy": ResourceType(
        id="projects/{project}/regions/{region}/resourcePolicies/{name}",
        computed=lambda target: {"selfLink": link(target)},
        update=_policy_renamed,
        delete=_policy_free,
    ),
}
