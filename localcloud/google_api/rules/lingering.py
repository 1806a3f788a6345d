"""Network endpoint groups, which outlive their deleted cluster for a while.

Until they are collected, Compute Engine refuses to delete the network: "is already being used by"
(hashicorp/terraform-provider-google#5948, #9812). The fault ``inUseAfterCluster`` says how many seconds that takes;
without it nothing lingers.
"""

from __future__ import annotations

import time

from localcloud.google_api.rules.resource_type import CloudState
from localcloud.product import region_of
from localcloud.providers.protocol.values import JsonObject

KEY = "lingering"


def leave(cloud_state: CloudState, network: str, location: str) -> None:
    """Leaves an endpoint group in ``network``, whose cluster has just been deleted."""
    seconds = cloud_state.faults.read().get("inUseAfterCluster")
    if isinstance(seconds, int | float):
        zone = location if location.count("-") > 1 else f"{location}-a"
        group = f"{network.split('/global/')[0]}/zones/{zone}/networkEndpointGroups/k8s1-{region_of(zone)}"
        left: JsonObject = {"group": group, "until": time.time() + seconds}
        cloud_state.content[KEY] = {network: left}


def groups(cloud_state: CloudState) -> list[tuple[str, str]]:
    """The endpoint groups that are left, each with its network."""
    stored = cloud_state.content.get(KEY)
    networks = list(stored) if isinstance(stored, dict) else []
    return [(group, network) for network in networks if (group := group_in(cloud_state, network)) is not None]


def collect(cloud_state: CloudState, group: str) -> bool:
    """Deletes an endpoint group that is left; whether there was one."""
    stored, left = cloud_state.content.get(KEY), groups(cloud_state)
    if isinstance(stored, dict):
        cloud_state.content[KEY] = {network: one for network, one in stored.items() if (group, network) not in left}
    return group in dict(left)


def group_in(cloud_state: CloudState, network: str) -> str | None:
    """The endpoint group that still uses ``network``, if any."""
    stored = cloud_state.content.get(KEY)
    left = stored.get(network) if isinstance(stored, dict) else None
    if not isinstance(left, dict) or float(str(left["until"])) <= time.time():
        return None
    return str(left["group"])
