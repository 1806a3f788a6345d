"""GKE: node pools. A pool whose nodes cannot be made stays, in the state ``ERROR``."""

from __future__ import annotations

from localcloud.google_api.core.cloud import EmulatedCloud, ends
from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules import nodepools
from localcloud.google_api.rules.references import CLUSTER, NODE_POOL
from localcloud.google_api.services.container_operations import begin
from localcloud.google_api.services.pool_bodies import shown, target_of
from localcloud.google_api.services.pool_capacity import settle
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, merge, table, text

_OF_A_POOL = "container.projects.locations.clusters.nodePools"


def add(cloud: EmulatedCloud, cluster: str, body: JsonObject) -> str:
    """Makes a pool that the rules admit; its nodes come with :func:`settle`. Returns its name in the API."""
    key = f"{cluster}/nodePools/{text(body, 'name')}"
    if key in cloud.resources:
        raise ApiError(409, f"Already exists: {key}.")
    target = target_of(key, body)
    with cloud.state() as cloud_state:
        nodepools.create(cloud_state, target)
        cloud_state.put(NODE_POOL, key, {"inputs": target.inputs, "computed": {}, "status": "PROVISIONING"})
    cloud.resources[key] = shown(cloud, key, body)
    return key


def _cluster(request: Request) -> str:
    key = request.at.get("parent") or request.at["name"].rpartition("/nodePools/")[0]
    with request.cloud.state() as cloud_state:
        if cloud_state.get(CLUSTER, key) is None:
            raise ApiError(404, f"Not found: {key}.")
    return key


def _record(request: Request) -> tuple[str, JsonObject]:
    _cluster(request)
    key = request.at["name"]
    return key, request.cloud.found(key, ApiError(404, f'nodePool "{key}" not found'))


@answers(f"{_OF_A_POOL}.create")
def create(request: Request) -> JsonObject:
    """Makes a pool. Quota and stock are found out by the operation, not by the answer."""
    key = add(request.cloud, _cluster(request), table(request.body, "nodePool"))
    return begin(request, "CREATE_NODE_POOL", key, "pool.settle", failure=request.failure)


@ends("pool.settle")
def _settled(cloud: EmulatedCloud, operation: JsonObject) -> str:
    return settle(cloud, text(operation, "target"))


@answers(f"{_OF_A_POOL}.get")
def get(request: Request) -> JsonObject:
    """Returns a node pool."""
    return _record(request)[1]


@answers(f"{_OF_A_POOL}.list")
def list_(request: Request) -> JsonObject:
    """Lists the node pools of a cluster."""
    return {"nodePools": list[JsonValue](request.cloud.below(f"{_cluster(request)}/nodePools").values())}


_IN_CONFIG = frozenset({
    "bootDisk", "confidentialNodes", "containerdConfig", "diskSizeGb", "diskType", "fastSocket", "gcfsConfig", "gvnic",
    "imageType", "kubeletConfig", "linuxNodeConfig", "loggingConfig", "machineType", "maxRunDuration", "flexStart",
    "resourceLabels", "resourceManagerTags", "storagePools", "windowsNodeConfig", "workloadMetadataConfig",
})  # fmt: skip
"""Fields of an update that belong to the nodes' configuration."""
_WRAPPED = {"labels": "labels", "taints": "taints", "tags": "tags"}
_OF_POOL = frozenset(("locations", "upgradeSettings", "queuedProvisioning", "networkConfig"))


@answers(f"{_OF_A_POOL}.update")
def update(request: Request) -> JsonObject:
    """Changes a pool in place, which replaces its nodes one by one."""
    key, before = _record(request)
    given = text(request.body, "etag")
    if given and given != text(before, "etag"):
        raise ApiError(409, "The node pool was changed since it was read: the etag does not match.", "aborted")
    after, config = dict(before), merge({"config": {}}, before)["config"]
    assert isinstance(config, dict)  # noqa: S101
    for name, value in request.body.items():
        if name in _WRAPPED:
            config[name] = dig(value, _WRAPPED[name])
        elif name in _IN_CONFIG:
            config[name] = value
        elif name in _OF_POOL:
            after[name] = value
        elif name == "nodeVersion":
            after["version"] = value
        elif name not in ("name", "etag", "image", "imageProject", "nodeDrainConfig"):
            raise ApiError(501, f"the emulator does not imitate the update {name} of a node pool")
    after["config"] = config
    return _changed(request, key, after, "UPGRADE_NODES")


def _changed(request: Request, key: str, after: JsonObject, sort: str) -> JsonObject:
    cloud = request.cloud
    target = target_of(key, after)
    with cloud.state() as cloud_state:
        nodepools.update(cloud_state, target)
        if failure := request.failure:
            return begin(request, sort, key, failure=failure)
        cloud_state.put(NODE_POOL, key, {**(cloud_state.get(NODE_POOL, key) or {}), "inputs": target.inputs})
    cloud.resources[key] = after | {"etag": cloud.etag()}
    return begin(request, sort, key, "pool.settle")


def updated_with_cluster(request: Request, key: str, update: JsonObject) -> JsonObject:
    """An update of a cluster that names one of its pools (``desiredNodePoolId``): the older way to change a pool."""
    after = request.cloud.found(key, ApiError(404, f'nodePool "{key}" not found'))
    for name, value in update.items():
        if name == "desiredNodePoolAutoscaling":
            after["autoscaling"] = value
        elif name == "desiredNodeVersion":
            after["version"] = value
        elif name not in ("desiredNodePoolId", "etag"):
            raise ApiError(501, f"the emulator does not imitate the update {name} of a node pool")
    return _changed(request, key, after, "UPDATE_CLUSTER")


_SET = {
    "setSize": ("initialNodeCount", "nodeCount", "SET_NODE_POOL_SIZE"),
    "setAutoscaling": ("autoscaling", "autoscaling", "UPDATE_CLUSTER"),
    "setManagement": ("management", "management", "SET_NODE_POOL_MANAGEMENT"),
}
"""By method: the field that it sets, the field of its body, and the kind of its operation."""


@answers(*(f"{_OF_A_POOL}.{name}" for name in _SET))
def set_field(request: Request) -> JsonObject:
    """Sets nodes per zone, the bounds of autoscaling, or automatic repair and upgrades."""
    key, before = _record(request)
    field, given, sort = _SET[request.method.id.rpartition(".")[2]]
    return _changed(request, key, before | {field: dig(request.body, given)}, sort)


@answers(f"{_OF_A_POOL}.delete")
def delete(request: Request) -> JsonObject:
    """Removes a pool, when the operation is over."""
    key, stored = _record(request)
    request.cloud.resources[key] = stored | {"status": "STOPPING"}
    return begin(request, "DELETE_NODE_POOL", key, "pool.remove", failure=request.failure, stored=stored)


@ends("pool.remove")
def _removed(cloud: EmulatedCloud, operation: JsonObject) -> str:
    key, failure = text(operation, "target"), text(operation, "failure")
    if failure:
        cloud.resources[key] = table(operation, "stored")
        return failure
    cloud.drop(NODE_POOL, key)
    return ""
