"""Node pools: whether their nodes can be made, and GKE's further attempts."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager

from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.core.request import in_background
from localcloud.google_api.rules import capacity
from localcloud.google_api.rules.nodepools import cluster_of, first_nodes, pool_zones, provisioning_model
from localcloud.google_api.rules.references import NODE_POOL
from localcloud.google_api.rules.resource_type import CloudState, TargetResource
from localcloud.google_api.services.pool_bodies import target_of
from localcloud.providers.protocol.values import JsonValue, text

RETRY_SECONDS = 10.0
"""Seconds after which GKE tries again to create nodes; at Google these are minutes."""


def settle(cloud: EmulatedCloud, key: str) -> str:
    """Creates the pool's nodes; returns the reason if that is not possible, or ``""``."""
    if key not in cloud.resources:
        return ""
    with cloud.state() as cloud_state:
        target = target_of(key, cloud.resources[key])
        with _without_stock(cloud, cloud_state, target):
            capacity.settle(cloud_state, target)
        record = cloud_state.get(NODE_POOL, key) or {}
        record["triedAt"] = time.time()
    cause = text(record, "statusMessage")
    cloud.resources[key] |= {"status": text(record, "status")}
    cloud.resources[key].pop("statusMessage", None)
    if cause:
        cloud.resources[key]["statusMessage"] = cause
    return cause


@contextmanager
def _without_stock(cloud: EmulatedCloud, cloud_state: CloudState, target: TargetResource) -> Generator[None]:
    """During the block, zones that the fault ``stockout`` names for this attempt have no hosts."""
    given, zones_ = (
        cloud.faults.conditions.given,
        pool_zones(target.inputs, cluster_of(cloud_state, target), target.scope["location"]),
    )
    out: list[JsonValue] = [
        zone
        for zone in zones_
        if first_nodes(target.inputs)
        and cloud.faults.strike("stockout", "", target.id, zone=zone, capacity=provisioning_model(target.inputs))
    ]
    before = given.get("stockout")
    if out:
        given["stockout"] = [*(before if isinstance(before, list) else []), *out]
    yield
    if before is None:
        given.pop("stockout", None)
    else:
        given["stockout"] = before


@in_background
def try_again(cloud: EmulatedCloud) -> None:
    """GKE goes on trying to make the nodes of a pool in ``ERROR`` (hashicorp/terraform-provider-google#10121)."""
    failed = [key for key, one in cloud.resources.items() if "/nodePools/" in key and text(one, "status") == "ERROR"]
    if not failed:
        return
    with cloud.state() as cloud_state:
        records = cloud_state.all(NODE_POOL)
    for key in failed:
        tried = records.get(key, {}).get("triedAt")
        if isinstance(tried, int | float) and time.time() - tried >= RETRY_SECONDS:
            settle(cloud, key)
