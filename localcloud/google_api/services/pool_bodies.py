"""Node pools: their bodies as the rules know them, and what GKE adds to one."""

from __future__ import annotations

from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.rules.references import NODE_POOL
from localcloud.google_api.rules.resource_type import TargetResource
from localcloud.google_api.services.links import GKE, compute_link, group_name
from localcloud.product import zones
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, merge, number, objects, table, text, texts

SCOPES = (
    "devstorage.read_only", "logging.write", "monitoring", "service.management.readonly", "servicecontrol",
    "trace.append",
)  # fmt: skip
"""What the nodes of a pool may ask Google's APIs for where it names nothing."""


def target_of(key: str, body: JsonObject) -> TargetResource:
    """The pool as the rules see it, in the words of Pulumi's SDK."""
    _, project, _, location, _, cluster, _, name = key.split("/")
    inputs: JsonObject = {
        "name": name,
        "cluster": cluster,
        "location": location,
        "nodeConfig": {**table(body, "config"), **_guests(body)},
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
    scope = {"project": project, "region": zones.region_of(location), "zone": "", "location": location}
    return TargetResource(NODE_POOL, key, inputs, scope)


def _guests(body: JsonObject) -> JsonObject:
    """The GPUs of the nodes, if the body has any. An int64 is text in JSON."""
    guests: list[JsonValue] = [
        {"type": text(one, "acceleratorType"), "count": int(str(one.get("acceleratorCount") or 0))}
        for one in objects(body, "config", "accelerators")
    ]
    return {"guestAccelerators": guests} if guests else {}


def shown(cloud: EmulatedCloud, key: str, body: JsonObject) -> JsonObject:
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
