"""Compute Engine: addresses, certificates, policies. The VPC is in ``network.py`` and ``nat.py``."""

from __future__ import annotations

from localcloud.google_api.core.errors import ApiError, in_use, not_found
from localcloud.google_api.rules.forwarding import address_free
from localcloud.google_api.rules.references import ADDRESS, NODE_POOL, SUBNETWORK, subnetwork_id
from localcloud.google_api.rules.resource_type import CloudState, ResourceType, TargetResource, digits, short
from localcloud.providers.protocol.values import dig, text


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
        raise ApiError(400, f"Invalid value for field {problem}", "invalid")
    if reference:
        ident = subnetwork_id(reference, target.project, target.scope["region"])
        if cloud_state.get(SUBNETWORK, ident) is None:
            raise not_found(ident)
    wanted = target.text("address")
    if wanted and any(
        dig(r, "computed", "address") == wanted or text(r, "inputs", "address") == wanted
        for r in cloud_state.all(ADDRESS).values()
    ):
        raise ApiError(400, f"Specified IP address is in-use: {wanted}", "ipInUseByAnotherResource")


def reserved_address(target: TargetResource) -> str:
    """The address that Google reserves. 203.0.113.0/24 is for documentation (RFC 5737): nothing answers there."""
    host = int(digits(target.id, 6)) % 250 + 2
    return f"10.0.0.{host}" if target.text("addressType") == "INTERNAL" else f"203.0.113.{host}"


def _policy_free(cloud_state: CloudState, target: TargetResource) -> None:
    """Rejects the deletion of a resource policy that a node pool's instance group uses."""
    for ident, record in cloud_state.all(NODE_POOL).items():
        policy = text(record, "inputs", "placementPolicy", "policyName")
        if policy and short(policy) == short(target.id) and ident.split("/")[1] == target.project:
            raise in_use("resourcePolicy", target.id, ident)


KINDS: dict[str, ResourceType] = {
    ADDRESS: ResourceType("addresses", delete=address_free, create=_address_create),
    "gcp:compute/regionSslPolicy:RegionSslPolicy": ResourceType("sslPolicies"),
    "gcp:compute/regionSslCertificate:RegionSslCertificate": ResourceType("sslCertificates"),
    "gcp:compute/resourcePolicy:ResourcePolicy": ResourceType("resourcePolicies", delete=_policy_free),
}
