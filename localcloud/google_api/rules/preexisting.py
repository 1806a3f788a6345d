"""Networks and subnets that are older than the stack, as the fault ``existingSubnets`` lists them.

They are not in ``google.json``: no stack made them, so none is asked to remove them.
"""

from __future__ import annotations

from localcloud.providers.protocol.faults import Faults
from localcloud.providers.protocol.values import JsonObject, text

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"


def all_of(kind: str, faults: Faults) -> dict[str, JsonObject]:
    """The objects of a type by id, as records of the cloud.

    A subnet is given by id with its inputs as pulumi-gcp names them; ``network`` is the name of a network of the
    subnet's own project. A network exists if a subnet names it. Raises ``ValueError`` for an incomplete entry.
    """
    if kind not in (NETWORK, SUBNETWORK):
        return {}
    objects: dict[str, JsonObject] = {}
    for ident in sorted(faults.keys("existingSubnets")):
        inputs = faults.value("existingSubnets", ident)
        parts, network = ident.split("/"), text(inputs, "network")
        if parts[::2] != ["projects", "regions", "subnetworks"] or not isinstance(inputs, dict) or not network:
            raise ValueError(
                f"LLMD_GKE_FAULTS: existingSubnets: {ident!r} must have the form projects/PROJECT/regions/REGION/"
                'subnetworks/NAME, and its inputs must contain "network"'
            )
        network_id = f"projects/{parts[1]}/global/networks/{network}"
        if kind == SUBNETWORK:
            objects[ident] = {"inputs": {**inputs, "network": network_id}, "computed": {}, "status": "RUNNING"}
        else:
            objects[network_id] = {"inputs": {"name": network}, "computed": {}, "status": "RUNNING"}
    return objects
