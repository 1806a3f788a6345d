"""Rules about node pools of any machine type, as pulumi-gcp describes them (``container.NodePool``).

Rules about one accelerator are in a separate module, such as :mod:`llmd_gke.rules.tpu_pools`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmd_gke.catalog.accelerators import Accelerator, accelerator_of
from llmd_gke.catalog.zones import Capacity
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input

DEFAULT_ACCOUNT = re.compile(r"|default|[0-9]+-compute@developer\.gserviceaccount\.com")
"""The default service account of Compute Engine, in each way to write it."""


def accelerator(pool: Input) -> Accelerator | None:
    """The accelerator of a node pool's machines, by the machine type's name; ``None`` for ordinary machines."""
    return accelerator_of(pool.get("nodeConfig", "machineType").text() or "")


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
    account = config.get("serviceAccount")
    if account.value is None or (isinstance(account.value, str) and DEFAULT_ACCOUNT.fullmatch(account.value)):
        yield _hard(
            f"{account.path} is not set: nodes run as the project's default service account, which often has the "
            "role Editor",
            "a service account with roles/container.defaultNodeServiceAccount",
            "create a service account for nodes",
        )
    readonly = config.get("kubeletConfig", "insecureKubeletReadonlyPortEnabled")
    if (readonly.text() or "").upper() == "TRUE":
        yield _hard(
            f"{readonly.path} is TRUE: the kubelet's read-only port has no authentication", "FALSE", "set it to FALSE"
        )


def cluster_hardening(cluster: Input) -> Iterator[Finding]:
    """The cluster's settings for nodes that GKE creates itself: by auto-provisioning, or as defaults of all pools."""
    ports = (
        "nodePoolDefaults.nodeConfigDefaults.insecureKubeletReadonlyPortEnabled",
        "nodePoolAutoConfig.nodeKubeletConfig.insecureKubeletReadonlyPortEnabled",
    )
    for path in ports:
        if (cluster.get(*path.split(".")).text() or "").upper() == "TRUE":
            yield _hard(
                f"{path} is TRUE: the kubelet's read-only port has no authentication", "FALSE", "set it to FALSE"
            )
    scaling = cluster.get("clusterAutoscaling")
    if scaling.get("enabled").boolean() is not True or cluster.get("enableAutopilot").boolean() is True:
        return
    defaults = scaling.get("autoProvisioningDefaults")
    boot = defaults.get("shieldedInstanceConfig", "enableSecureBoot")
    if boot.value is None or boot.boolean() is False:
        yield _hard(f"{boot.path}: secure boot of auto-provisioned nodes is off", "True", "set it to True")
    account = defaults.get("serviceAccount")
    if account.value is None or DEFAULT_ACCOUNT.fullmatch(account.text() or "."):
        yield _hard(
            f"{account.path} is not set: auto-provisioned nodes run as the project's default service account, "
            "which often has the role Editor",
            "a service account with roles/container.defaultNodeServiceAccount",
            "create a service account for nodes",
        )


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
