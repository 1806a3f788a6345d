"""Rules about node pools of any machine type, as pulumi-gcp describes them (``container.NodePool``).

Rules about one accelerator are in a separate module, such as :mod:`llmd_gke.rules.tpu_pools`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from llmd_gke.catalog.accelerators import NVIDIA, TPU, Accelerator, accelerator_of, family_of
from llmd_gke.catalog.zones import Capacity
from llmd_gke.rules import versions
from llmd_gke.rules.cluster import ordinary_disk
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input

DEFAULT_ACCOUNT = re.compile(
    r"|default|[0-9]+-compute@developer\.gserviceaccount\.com|[^@]+@appspot\.gserviceaccount\.com"
)
"""The default service account of Compute Engine, in each way to write it, and that of App Engine."""
NODE_ACCOUNT = "a service account with roles/container.defaultNodeServiceAccount"


def accelerator(pool: Input) -> Accelerator | None:
    """The accelerator of a pool's machines, by their name or their GPUs; ``None`` for ordinary machines."""
    asked = next(pool.get("nodeConfig", "guestAccelerators").each(), None)
    return accelerator_of(pool.get("nodeConfig", "machineType").text() or "") or (NVIDIA if asked is not None else None)


def node_hardening(pool: Input) -> Iterator[Finding]:
    """Nodes are shielded, hide their own credentials from pods, and run as a service account made for them."""
    config = pool.get("nodeConfig")
    wanted = (
        (config.get("shieldedInstanceConfig", "enableSecureBoot"), True, "secure boot is off"),
        (config.get("workloadMetadataConfig", "mode"), "GKE_METADATA", "pods can read the node's credentials"),
    )
    for node, value, problem in wanted:
        if node.present() and node.value == value:
            continue
        if node.value is None or isinstance(node.value, bool | str):
            yield _hard(f"{node.path}: {problem}", str(value), f"set it to {value}")
    yield from _default_account(config.get("serviceAccount"), "nodes")
    yield from _open_port(config.get("kubeletConfig", "insecureKubeletReadonlyPortEnabled"))


def _default_account(account: Input, nodes: str) -> Iterator[Finding]:
    if _is_default(account):
        yield _hard(
            f"{account.path} is not set: {nodes} run as the project's default service account, which often has the "
            "role Editor",
            NODE_ACCOUNT,
            "create a service account for nodes",
        )


def _is_default(account: Input) -> bool:
    return account.value is None or bool(isinstance(account.value, str) and DEFAULT_ACCOUNT.fullmatch(account.value))


def _open_port(port: Input) -> Iterator[Finding]:
    if (port.text() or "").upper() == "TRUE":
        yield _hard(
            f"{port.path} is TRUE: the kubelet's read-only port has no authentication", "FALSE", "set it to FALSE"
        )


def cluster_hardening(cluster: Input) -> Iterator[Finding]:
    """The cluster's settings for nodes that GKE creates itself: by auto-provisioning, or as defaults of all pools."""
    for above in (("nodePoolDefaults", "nodeConfigDefaults"), ("nodePoolAutoConfig", "nodeKubeletConfig")):
        yield from _open_port(cluster.get(*above, "insecureKubeletReadonlyPortEnabled"))
    account = cluster.get("nodeConfig", "serviceAccount")
    if cluster.get("removeDefaultNodePool").boolean() is True and _is_default(account):
        yield _hard(
            f"{account.path} is not set: the default node pool, which GKE creates before it is removed, runs as the "
            "project's default service account, and the cluster fails where that is deleted",
            NODE_ACCOUNT,
            "set the service account of the node pools here, too",
        )
    scaling = cluster.get("clusterAutoscaling")
    if scaling.get("enabled").boolean() is not True or cluster.get("enableAutopilot").boolean() is True:
        return
    defaults = scaling.get("autoProvisioningDefaults")
    boot = defaults.get("shieldedInstanceConfig", "enableSecureBoot")
    if boot.value is None or boot.boolean() is False:
        yield _hard(f"{boot.path}: secure boot of auto-provisioned nodes is off", "True", "set it to True")
    defaults.get("serviceAccount").text()  # notes what is not known yet
    yield from _default_account(defaults.get("serviceAccount"), "auto-provisioned nodes")


def _hard(problem: str, allowed: str, fix: str) -> Finding:
    return Finding("node-hardening", problem, allowed=allowed, fix=fix)


def pool_zones(pool: Input) -> list[str]:
    """The zones of a pool's nodes; none if only the region is given."""
    listed = [zone for node in pool.get("nodeLocations").each() if (zone := node.text())]
    location = pool.get("location").text() or ""
    return listed or ([location] if location.count("-") > 1 else [])


def capacity_mode(pool: Input) -> Capacity:
    """How the pool's nodes are obtained."""
    config = pool.get("nodeConfig")
    if config.get("spot").boolean() or config.get("preemptible").boolean():
        return "spot"
    if config.get("flexStart").boolean():
        return "flex-start"
    if config.get("reservationAffinity", "consumeReservationType").text() == "SPECIFIC_RESERVATION":
        return "reservation"
    return "on-demand"


CHANNELS = ("RAPID", "REGULAR", "STABLE", "EXTENDED")
"""Release channels, in which GKE upgrades and repairs nodes itself."""


def pairs(pool: Input) -> Iterator[Finding]:
    """No fields that GKE refuses together, or that fight each other.

    Sources: hashicorp/terraform-provider-google ``resource_container_node_pool.go`` and issues 844, 18341;
    AI-Hypercomputer/xpk#900; https://cloud.google.com/kubernetes-engine/docs/concepts/node-pool-upgrade-strategies.
    """
    scaling, config, upgrade = pool.get("autoscaling"), pool.get("nodeConfig"), pool.get("upgradeSettings")
    if scaling.present() and pool.get("nodeCount").present():
        yield _pair("nodeCount beside autoscaling: every update sets the number back", "set initialNodeCount instead")
    for least, most in (("minNodeCount", "maxNodeCount"), ("totalMinNodeCount", "totalMaxNodeCount")):
        low, high = scaling.get(least).integer(), scaling.get(most).integer()
        if low is not None and high is not None and low > high:
            yield _pair(f"autoscaling.{least} {low} is more than {most} {high}", f"set {least} to at most {high}")
    if scaling.get("maxNodeCount").present() and scaling.get("totalMaxNodeCount").present():
        yield _pair("autoscaling has limits per zone and in total", "keep one kind of limits")
    queued = pool.get("queuedProvisioning", "enabled").boolean() is True
    reserved = config.get("reservationAffinity", "consumeReservationType")
    if queued and reserved.value is None:
        yield _pair("queuedProvisioning without a reservationAffinity", f"set {reserved.path}: NO_RESERVATION")
    if queued and config.get("flexStart").boolean() is True and accelerator(pool) is TPU:
        yield _pair("queuedProvisioning and flexStart on a TPU pool", "keep flexStart")
    if config.get("spot").boolean() is True and config.get("preemptible").boolean() is True:
        yield _pair("spot and preemptible exclude each other", "keep spot")
    surge, unavailable = upgrade.get("maxSurge").integer(), upgrade.get("maxUnavailable").integer()
    strategy = upgrade.get("strategy").text() or "SURGE"
    if strategy == "SURGE" and surge == 0 and unavailable == 0:
        yield _pair("maxSurge and maxUnavailable are both 0: no node could be upgraded", "set maxUnavailable: 1")
    if strategy == "SURGE" and upgrade.get("blueGreenSettings").present():
        yield _pair("upgradeSettings.blueGreenSettings with strategy SURGE", "remove blueGreenSettings")
    yield from _zones(pool, "the node pool")
    machine, disk = config.get("machineType").text(), config.get("diskType").text()
    if machine and disk and accelerator(pool) is None:
        for finding in ordinary_disk(machine, disk):
            yield replace(finding, rule="node-pool-fields")


def cluster_pairs(cluster: Input) -> Iterator[Finding]:
    """As :func:`pairs`, for a cluster."""
    location = cluster.get("location").text()
    if location in [node.text() for node in cluster.get("nodeLocations").each() if location]:
        yield _pair(f"nodeLocations contains the cluster's own zone {location}", f"remove {location}")
    yield from _zones(cluster, "the cluster")
    if cluster.get("enableAutopilot").boolean() is True and cluster.get("removeDefaultNodePool").boolean() is True:
        yield _pair("removeDefaultNodePool on an Autopilot cluster, which has none", "remove removeDefaultNodePool")


def _zones(owner: Input, what: str) -> Iterator[Finding]:
    location = owner.get("location").text() or ""
    region = location.rpartition("-")[0] if location.count("-") > 1 else location
    for node in owner.get("nodeLocations").each():
        zone = node.text()
        if zone and region and zone.rpartition("-")[0] != region:
            yield _pair(f"{node.path}: {zone} is not in {region}, the region of {what}", f"use a zone of {region}")


def in_cluster(pool: Input, cluster: Input) -> Iterator[Finding]:
    """The node pool is where its cluster is, and leaves to GKE what the cluster's release channel does."""
    of_pool, of_cluster = pool.get("location").text(), cluster.get("location").text()
    if of_pool and of_cluster and of_pool != of_cluster:
        yield _pair(
            f"location {of_pool} is not that of the cluster, {of_cluster}: GKE finds no such cluster",
            f"set location: {of_cluster}, and the zones in nodeLocations",
        )
    if cluster.get("enableAutopilot").boolean() is True:
        yield _pair("a node pool in an Autopilot cluster, which manages its nodes itself", "remove the node pool")
    machine = pool.get("nodeConfig", "machineType").text() or ""
    family, version = family_of(machine), cluster.get("minMasterVersion").text() or ""
    if family is not None and family.minimum_gke is not None and versions.is_older(version, family.minimum_gke):
        yield _pair(
            f"{machine} needs GKE {family.minimum_gke} or newer, but the cluster's minMasterVersion is {version}",
            f"set minMasterVersion: {family.minimum_gke}",
        )
    policy, pods = cluster.get("ipAllocationPolicy"), pool.get("networkConfig", "podRange").text()
    if pods is not None and pods == policy.get("servicesSecondaryRangeName").text():
        yield _pair(f"networkConfig.podRange {pods} is the range of the cluster's Services", "name another range")
    channel = cluster.get("releaseChannel", "channel").text()
    flex = pool.get("nodeConfig", "flexStart").boolean() is True
    for key in ("autoUpgrade", "autoRepair"):
        off = pool.get("management", key).boolean() is False
        if off and channel in CHANNELS and not (flex and key == "autoRepair"):
            yield _pair(f"management.{key} is false in a cluster of release channel {channel}", f"set {key}: true")


def _pair(problem: str, fix: str) -> Finding:
    return Finding("node-pool-fields", problem, fix=fix)
