"""GKE: clusters. Their pools are in ``node_pools``."""

from __future__ import annotations

from localcloud.google_api.core.cloud import EmulatedCloud, ends
from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules import container, control_plane
from localcloud.google_api.rules.container import OFFERED
from localcloud.google_api.rules.references import CLUSTER
from localcloud.google_api.services import node_pools, pool_capacity
from localcloud.google_api.services.cluster_bodies import shown, target_of, updated
from localcloud.google_api.services.container_operations import begin
from localcloud.google_api.services.links import pools_in
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, objects, table, text, texts

_OF_A_CLUSTER = "container.projects.locations.clusters"


def _record(request: Request) -> tuple[str, JsonObject]:
    key = request.at["name"]
    return key, request.cloud.found(key, ApiError(404, f"Not found: {key}."))


def _with_pools(cloud: EmulatedCloud, key: str) -> JsonObject:
    cluster, pools = cloud.copy(key) or {}, cloud.below(f"{key}/nodePools")
    nodes: list[JsonValue] = [group for pool in pools.values() for group in texts(pool, "instanceGroupUrls")]
    cluster["nodePools"] = list[JsonValue](pools.values())
    if nodes:
        cluster["instanceGroupUrls"] = nodes
    for key_, pool in pools.items():  # GKE shows the first pool's as the cluster's own
        cluster["nodeConfig"], cluster["initialNodeCount"] = pool["config"], pool["initialNodeCount"]
        project, zones = key_.split("/")[1], texts(pool, "locations")
        cluster["currentNodeCount"] = sum(pools_in(cloud, project, zone).get(key_, 0) for zone in zones)
        break
    return cluster


@answers(f"{_OF_A_CLUSTER}.create")
def create(request: Request) -> JsonObject:
    """Creates a cluster with its first pool. It exists at once, and runs when the operation is over."""
    cloud, body = request.cloud, table(request.body, "cluster")
    parent = request.at.get("parent") or text(request.body, "parent")
    key = f"{parent}/clusters/{text(body, 'name')}"
    if key in cloud.resources:
        raise ApiError(409, f"Already exists: {key}.")
    target = target_of(key, body)
    with cloud.state() as cloud_state:
        container.create(cloud_state, target)
        computed = control_plane.outputs(target)
        cloud_state.put(CLUSTER, key, {"inputs": target.inputs, "computed": computed, "status": "PROVISIONING"})
    cloud.resources[key] = shown(target, body, cloud.etag())
    first: JsonObject = {
        "name": "default-pool",
        "initialNodeCount": body.get("initialNodeCount", 1),
        "config": body.get("nodeConfig", {}),
    }
    for pool in objects(body, "nodePools") or [first]:
        node_pools.add(cloud, key, pool)
    return begin(request, "CREATE_CLUSTER", key, "cluster.settle", failure=request.failure)


@ends("cluster.settle")
def _settled(cloud: EmulatedCloud, operation: JsonObject) -> str:
    key, failure = text(operation, "target"), text(operation, "failure")
    status = "ERROR" if failure else "RUNNING"
    if key in cloud.resources:
        cloud.resources[key] |= {"status": status} | ({"statusMessage": failure} if failure else {})
        with cloud.state() as cloud_state:
            cloud_state.put(CLUSTER, key, {**(cloud_state.get(CLUSTER, key) or {}), "status": status})
        for pool in cloud.below(f"{key}/nodePools"):
            pool_capacity.settle(cloud, pool)
    return failure


@answers(f"{_OF_A_CLUSTER}.get")
def get(request: Request) -> JsonObject:
    """Returns a cluster with its pools."""
    key, _ = _record(request)
    return _with_pools(request.cloud, key)


@answers(f"{_OF_A_CLUSTER}.list")
def list_(request: Request) -> JsonObject:
    """Lists the clusters of a location; ``-`` stands for all locations."""
    _, project, _, location = request.at["parent"].split("/")
    clusters: list[JsonValue] = [
        _with_pools(request.cloud, key)
        for key in list(request.cloud.resources)
        if key.startswith(f"projects/{project}/locations/")
        and key.count("/") == 5
        and "/clusters/" in key
        and location in ("-", key.split("/")[3])
    ]
    return {"clusters": clusters}


@answers(f"{_OF_A_CLUSTER}.update")
def update(request: Request) -> JsonObject:
    """Changes a cluster."""
    key, before = _record(request)
    wanted = table(request.body, "update")
    if pool := text(wanted, "desiredNodePoolId"):
        return node_pools.updated_with_cluster(request, f"{key}/nodePools/{pool}", wanted)
    return _changed(request, key, updated(before, wanted), "UPDATE_CLUSTER")


def _changed(request: Request, key: str, after: JsonObject, sort: str) -> JsonObject:
    cloud = request.cloud
    if failure := request.failure:
        return begin(request, sort, key, failure=failure)
    with cloud.state() as cloud_state:
        record = cloud_state.get(CLUSTER, key) or {}
        target = target_of(key, after | {"initialClusterVersion": text(after, "currentMasterVersion")})
        container.judge_options(target)
        cloud_state.put(CLUSTER, key, {**record, "inputs": target.inputs})
    cloud.resources[key] = after | {"etag": cloud.etag()}
    return begin(request, sort, key)


@answers(f"{_OF_A_CLUSTER}.setResourceLabels")
def set_labels(request: Request) -> JsonObject:
    """Replaces the labels, with the fingerprint of those that were read."""
    key, before = _record(request)
    if text(request.body, "labelFingerprint") != text(before, "labelFingerprint"):
        raise ApiError(412, "Labels could not be set due to fingerprint mismatch.")
    labels: JsonObject = {
        "resourceLabels": dig(request.body, "resourceLabels"),
        "labelFingerprint": request.cloud.etag(),
    }
    return _changed(request, key, before | labels, "UPDATE_CLUSTER")


@answers(f"{_OF_A_CLUSTER}.setMaintenancePolicy")
def set_maintenance(request: Request) -> JsonObject:
    """Replaces windows and exclusions."""
    key, before = _record(request)
    policy: JsonObject = {**table(request.body, "maintenancePolicy"), "resourceVersion": request.cloud.etag()}
    return _changed(request, key, {**before, "maintenancePolicy": policy}, "SET_MAINTENANCE_POLICY")


@answers(f"{_OF_A_CLUSTER}.delete")
def delete(request: Request) -> JsonObject:
    """Removes a cluster with its pools, when the operation is over."""
    key, stored = _record(request)
    if text(stored, "status") == "STOPPING":
        raise ApiError(400, f"Cluster is running incompatible operation on {key}.", "failedPrecondition")
    request.cloud.resources[key] = stored | {"status": "STOPPING"}
    return begin(request, "DELETE_CLUSTER", key, "cluster.remove", failure=request.failure, stored=stored)


@ends("cluster.remove")
def _removed(cloud: EmulatedCloud, operation: JsonObject) -> str:
    key, stored, failure = text(operation, "target"), table(operation, "stored"), text(operation, "failure")
    if failure:
        cloud.resources[key] = stored
        return failure
    with cloud.state() as cloud_state:
        container.delete(cloud_state, target_of(key, stored))
        cloud_state.drop(CLUSTER, key)
    for name in [name for name in cloud.resources if name == key or name.startswith(f"{key}/")]:
        del cloud.resources[name]
    control_plane.forget(cloud.folder, key)
    return ""


@answers("container.projects.locations.getServerConfig")
def server_config(request: Request) -> JsonObject:
    """Returns the available versions; the fault ``versions`` replaces those of a channel."""
    newest, faults = list[JsonValue](reversed(OFFERED)), request.cloud.faults.conditions
    channels: list[JsonValue] = [
        {"channel": channel, "defaultVersion": OFFERED[1], "validVersions": faults.value("versions", channel) or newest}
        for channel in ("RAPID", "REGULAR", "STABLE")
    ]
    return {
        "defaultClusterVersion": OFFERED[1],
        "validMasterVersions": newest,
        "validNodeVersions": newest,
        "channels": channels,
        "defaultImageType": "COS_CONTAINERD",
        "validImageTypes": ["COS_CONTAINERD"],
    }
