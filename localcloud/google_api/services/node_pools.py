"""GKE: node pools. A pool whose nodes cannot be made stays, in the state ``ERROR``."""

from __future__ import annotations

from llmd_gke.catalog import zones
from localcloud.google_api.core.cloud import Cloud
from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.services.container_operations import begin
from localcloud.google_api.services.links import GKE, compute_link, group_name
from localcloud.providers.google.references import CLUSTER, NODE_POOL
from localcloud.providers.google.registry import KINDS
from localcloud.providers.google.resource_type import Target
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, merge, number, text, texts

_OF_A_POOL = "container.projects.locations.clusters.nodePools"
SCOPES = (
    "devstorage.read_only", "logging.write", "monitoring", "service.management.readonly", "servicecontrol",
    "trace.append",
)  # fmt: skip
"""What the nodes of a pool may ask Google's APIs for where it names nothing."""

# -- names and bodies, as the rules know them ------------------------------------------------------------------------


def target_of(key: str, body: JsonObject) -> Target:
    """The pool as the rules see it, in the words of Pulumi's SDK."""
    _, project, _, location, _, cluster, _, name = key.split("/")
    inputs: JsonObject = {
        "name": name,
        "cluster": cluster,
        "location": location,
        "nodeConfig": body.get("config", {}),
        "nodeLocations": body.get("locations", []),
        "initialNodeCount": number(body, "initialNodeCount") or 0,
        "management": body.get("management", {}),
        "upgradeSettings": body.get("upgradeSettings", {}),
    }
    if dig(body, "autoscaling", "enabled") is True:
        inputs["autoscaling"] = dig(body, "autoscaling")
    placement = dig(body, "placementPolicy")
    if isinstance(placement, dict) and any(placement.values()):
        kind = text(placement, "type")
        inputs["placementPolicy"] = {**placement, "type": "" if kind == "TYPE_UNSPECIFIED" else kind}
    if limit := number(body, "maxPodsConstraint", "maxPodsPerNode"):
        inputs["maxPodsPerNode"] = limit
    place = {"project": project, "region": zones.region_of(location), "zone": "", "location": location}
    return Target(NODE_POOL, key, inputs, place)


# -- what GKE adds to a body -------------------------------------------------------------------------------------------


def _shown(cloud: Cloud, key: str, body: JsonObject) -> JsonObject:
    """The pool as GKE shows it; computed values as in the recordings of k8s-config-connector 1.151."""
    cluster = cloud.resources[key.rpartition("/nodePools/")[0]]
    disk = text(body, "config", "bootDisk", "diskType") or text(body, "config", "diskType") or "pd-balanced"
    size = number(body, "config", "diskSizeGb") or 100
    model = "spot" if dig(body, "config", "spot") is True else "on-demand"
    model = "flex-start" if dig(body, "config", "flexStart") is True else model
    added: JsonObject = {
        "config": {
            "bootDisk": {"diskType": disk, "sizeGb": str(size)},
            "diskSizeGb": size,
            "diskType": disk,
            "effectiveCgroupMode": "EFFECTIVE_CGROUP_MODE_V2",
            "imageType": "COS_CONTAINERD",
            "kubeletConfig": {"insecureKubeletReadonlyPortEnabled": False, "maxParallelImagePulls": 2},
            "machineType": "e2-medium",
            "metadata": {"disable-legacy-endpoints": "true"},
            "oauthScopes": [f"https://www.googleapis.com/auth/{scope}" for scope in SCOPES],
            "resourceLabels": {"goog-gke-node-pool-provisioning-model": model},
            "serviceAccount": "default",
            "shieldedInstanceConfig": {"enableIntegrityMonitoring": True},
            "windowsNodeConfig": {},
        },
        "management": {"autoRepair": True, "autoUpgrade": True},
        "maxPodsConstraint": {"maxPodsPerNode": "110"},
        "networkConfig": {
            "podRange": text(cluster, "ipAllocationPolicy", "clusterSecondaryRangeName") or f"{key[-8:]}-pods",
            "podIpv4CidrBlock": text(cluster, "clusterIpv4Cidr"),
            "podIpv4RangeUtilization": 0.001,
            "subnetwork": text(cluster, "networkConfig", "subnetwork"),
            "enablePrivateNodes": dig(cluster, "networkConfig", "defaultEnablePrivateNodes") is True,
        },
        "podIpv4CidrSize": 24,
        "locations": cluster.get("locations", []),
        "upgradeSettings": {"maxSurge": 1, "strategy": "SURGE"},
        "version": text(cluster, "currentMasterVersion"),
    }
    if text(body, "upgradeSettings", "strategy"):
        del added["upgradeSettings"]
    made = merge(added, {name: value for name, value in body.items() if value not in (None, [], {})})
    if dig(body, "autoscaling", "enabled") is not True:
        made.pop("autoscaling", None)
    subnetwork = text(made, "networkConfig", "subnetwork")
    # whatever the reference was given as
    made = merge(made, {"networkConfig": {"subnetwork": subnetwork[max(0, subnetwork.find("projects/")) :]}})
    made |= {"name": key.rpartition("/")[2], "selfLink": f"{GKE}/{key}", "etag": cloud.etag()}
    made |= {"status": "PROVISIONING", "initialNodeCount": number(body, "initialNodeCount") or 0}
    group, project = group_name(key), key.split("/")[1]
    made["instanceGroupUrls"] = [
        compute_link(f"projects/{project}/zones/{zone}/instanceGroupManagers/{group}")
        for zone in texts(made, "locations")
    ]
    return made


# -- methods -----------------------------------------------------------------------------------------------------------


def add(cloud: Cloud, cluster: str, body: JsonObject) -> str:
    """Makes a pool that the rules admit; its nodes come with :func:`settle`. Returns its name in the API."""
    key = f"{cluster}/nodePools/{text(body, 'name')}"
    if key in cloud.resources:
        raise ApiError(409, f"Already exists: {key}.")
    target = target_of(key, body)
    with cloud.world() as world:
        KINDS[NODE_POOL].create(world, target)
        world.put(NODE_POOL, key, {"inputs": target.inputs, "computed": {}, "status": "PROVISIONING"})
    cloud.resources[key] = _shown(cloud, key, body)
    return key


def settle(cloud: Cloud, key: str) -> str:
    """The pool's nodes are there, or the reason why they are not."""
    if key not in cloud.resources:
        return ""
    with cloud.world() as world:
        KINDS[NODE_POOL].after(world, target_of(key, cloud.resources[key]))
        record = world.get(NODE_POOL, key) or {}
    cause = text(record, "statusMessage")
    cloud.resources[key] |= {"status": text(record, "status")}
    cloud.resources[key].pop("statusMessage", None)
    if cause:
        cloud.resources[key]["statusMessage"] = cause
    return cause


def _cluster(request: Request) -> str:
    key = request.at.get("parent") or request.at["name"].rpartition("/nodePools/")[0]
    with request.cloud.world() as world:
        if world.get(CLUSTER, key) is None:
            raise ApiError(404, f"Not found: {key}.")
    return key


def _found(request: Request) -> tuple[str, JsonObject]:
    _cluster(request)
    key = request.at["name"]
    found = request.cloud.copy(key)
    if found is None:
        raise ApiError(404, f'nodePool "{key}" not found')
    return key, found


@answers(f"{_OF_A_POOL}.create")
def create(request: Request) -> JsonObject:
    """Makes a pool. Quota and stock are found out by the operation, not by the answer."""
    cloud, given = request.cloud, dig(request.body, "nodePool")
    key, failure = add(cloud, _cluster(request), given if isinstance(given, dict) else {}), request.failure

    def ending() -> str:
        return settle(cloud, key) or failure

    return begin(request, "CREATE_NODE_POOL", key, ending)


@answers(f"{_OF_A_POOL}.get")
def get(request: Request) -> JsonObject:
    """One."""
    return _found(request)[1]


@answers(f"{_OF_A_POOL}.list")
def list_(request: Request) -> JsonObject:
    """Those of a cluster."""
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
    key, before = _found(request)
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
    return _changed(request, key, before, after, "UPGRADE_NODES")


def _changed(request: Request, key: str, before: JsonObject, after: JsonObject, sort: str) -> JsonObject:
    cloud = request.cloud
    target = target_of(key, after)
    with cloud.world() as world:
        KINDS[NODE_POOL].update(world, target, target_of(key, before).inputs)
        if failure := request.failure:
            return begin(request, sort, key, failure=failure)
        world.put(NODE_POOL, key, {**(world.get(NODE_POOL, key) or {}), "inputs": target.inputs})
    cloud.resources[key] = after | {"etag": cloud.etag()}
    return begin(request, sort, key, lambda: settle(cloud, key))


def updated_with_cluster(request: Request, key: str, update: JsonObject) -> JsonObject:
    """An update of a cluster that names one of its pools (``desiredNodePoolId``): the older way to change a pool."""
    before = request.cloud.copy(key)
    if before is None:
        raise ApiError(404, f'nodePool "{key}" not found')
    after = dict(before)
    for name, value in update.items():
        if name == "desiredNodePoolAutoscaling":
            after["autoscaling"] = value
        elif name == "desiredNodeVersion":
            after["version"] = value
        elif name not in ("desiredNodePoolId", "etag"):
            raise ApiError(501, f"the emulator does not imitate the update {name} of a node pool")
    return _changed(request, key, before, after, "UPDATE_CLUSTER")


@answers(f"{_OF_A_POOL}.setSize")
def set_size(request: Request) -> JsonObject:
    """Another number of nodes per zone."""
    key, before = _found(request)
    nodes = number(request.body, "nodeCount") or 0
    return _changed(request, key, before, before | {"initialNodeCount": nodes}, "SET_NODE_POOL_SIZE")


@answers(f"{_OF_A_POOL}.setAutoscaling")
def set_autoscaling(request: Request) -> JsonObject:
    """Other bounds."""
    key, before = _found(request)
    after = before | {"autoscaling": dig(request.body, "autoscaling")}
    return _changed(request, key, before, after, "UPDATE_CLUSTER")


@answers(f"{_OF_A_POOL}.setManagement")
def set_management(request: Request) -> JsonObject:
    """Repair and upgrades."""
    key, before = _found(request)
    after = before | {"management": dig(request.body, "management")}
    return _changed(request, key, before, after, "SET_NODE_POOL_MANAGEMENT")


@answers(f"{_OF_A_POOL}.delete")
def delete(request: Request) -> JsonObject:
    """Removes a pool, when the operation is over."""
    key, stored = _found(request)
    cloud, failure = request.cloud, request.failure
    cloud.resources[key] = stored | {"status": "STOPPING"}

    def ending() -> str:
        if failure:
            cloud.resources[key] = stored
            return failure
        with cloud.world() as world:
            KINDS[NODE_POOL].delete(world, target_of(key, stored))
            world.drop(NODE_POOL, key)
        cloud.resources.pop(key, None)
        return ""

    return begin(request, "DELETE_NODE_POOL", key, ending)
