"""GKE: clusters and their pools (whose TPU rules are in :mod:`nodepools`)."""

from __future__ import annotations

import re

from localcloud.google_api.core.errors import ApiError, not_found
from localcloud.google_api.rules import control_plane, lingering, serviceaccount
from localcloud.google_api.rules.references import NETWORK, NODE_POOL, SUBNETWORK, network_id, subnetwork_id
from localcloud.google_api.rules.resource_type import CloudState, TargetResource, short
from localcloud.product import versions, zones
from localcloud.providers.protocol.values import JsonObject, dig, number, objects, text, texts

CHANNEL_DEFAULT = "1.35.2-gke.1751000"
"""Version of a cluster that does not ask for a newer one."""

OFFERED = ("1.34.4-gke.1047000", "1.35.2-gke.1751000", "1.36.2-gke.2154000", versions.gke_autoscaling_metric())
"""Versions that this cloud offers: those of GKE's conformance reports v1.4 to v1.6 (kubernetes-sigs/gateway-api
``conformance/reports/*/gke-gateway``), and the first one with the managed adapter of metrics. What GKE really offers
changes by the week."""


def offered(asked: str) -> str | None:
    """The version that GKE uses for the requested one: the newest of a minor version, or of a patch without build.

    https://cloud.google.com/kubernetes-engine/versioning#specifying_cluster_version
    """
    if not asked:
        return CHANNEL_DEFAULT
    return next((version for version in reversed(OFFERED) if re.match(rf"{re.escape(asked)}($|[.-])", version)), None)


MOST_EXCLUSIONS = 20
"""Maintenance exclusions of a cluster
(https://cloud.google.com/kubernetes-engine/docs/concepts/maintenance-windows-and-exclusions)."""


def create(cloud_state: CloudState, target: TargetResource) -> None:
    """Rejects a new cluster that GKE would reject."""
    control_plane.create(cloud_state, target)
    asked = target.text("minMasterVersion")
    if offered(asked) is None:
        # The text: terraform-google-modules/terraform-google-kubernetes-engine#2177
        raise ApiError(400, f'Master version "{asked}" is unsupported.')
    inputs, location = target.inputs, target.scope["location"]
    region = zones.region_of(location)
    network = network_id(target.text("network") or "default", target.project)
    if cloud_state.get(NETWORK, network) is None:
        raise not_found(network)
    subnet_id = subnetwork_id(target.text("subnetwork") or "default", target.project, region)
    subnet = cloud_state.get(SUBNETWORK, subnet_id)
    if subnet is None:
        raise not_found(subnet_id)
    range_names = {text(entry, "rangeName") for entry in objects(subnet, "inputs", "secondaryIpRanges")}
    for key in ("clusterSecondaryRangeName", "servicesSecondaryRangeName"):
        wanted = target.text("ipAllocationPolicy", key)
        if wanted and wanted not in range_names:
            raise ApiError(400, f'Secondary range "{wanted}" does not exist in subnetwork "{short(subnet_id)}".')
    autopilot = dig(inputs, "enableAutopilot") is True
    if not autopilot and "nodePools" not in inputs and not number(inputs, "initialNodeCount"):
        raise ApiError(400, "Cluster.initial_node_count must be greater than zero.")
    for zone in texts(inputs, "nodeLocations"):
        if zones.region_of(zone) != region or zones.is_ai_zone(zone):
            # AI zones take accelerator pools only: GoogleCloudPlatform/accelerated-platforms @9320f3b2 filters them.
            raise ApiError(400, f'Location "{zone}" is not valid for the nodes of a cluster in "{location}".')
    if zones.is_ai_zone(location):
        raise ApiError(400, f'Location "{location}" does not exist.')
    workload_pool = target.text("workloadIdentityConfig", "workloadPool")
    if workload_pool and workload_pool != f"{target.project}.svc.id.goog":
        raise ApiError(400, f'Workload pool "{workload_pool}" must be "{target.project}.svc.id.goog".')
    judge_options(target)
    serviceaccount.require_of_nodes(cloud_state, target)


def judge_options(target: TargetResource) -> None:
    """Rejects options that exclude each other. Where no source is named the text is ours."""
    state, key = (target.text("databaseEncryption", name) for name in ("state", "keyName"))
    region, problem = zones.region_of(target.scope["location"]), ""
    policy = dig(target.inputs, "networkPolicy", "enabled") is True
    if policy and target.text("datapathProvider") == "ADVANCED_DATAPATH":
        # the text of GKE: hashicorp/terraform-provider-google#11334
        problem = "Enabling NetworkPolicy for clusters with DatapathProvider=ADVANCED_DATAPATH is not allowed."
    elif state == "ENCRYPTED" and not key:
        problem = "Database encryption in state ENCRYPTED needs a Cloud KMS key."
    elif key and f"/locations/{region}/" not in key:
        # https://cloud.google.com/kubernetes-engine/docs/how-to/encrypting-secrets: the key is in the cluster's region.
        problem = f'Cloud KMS key "{key}" is not in location "{region}".'
    elif (pauses := len(objects(target.inputs, "maintenancePolicy", "maintenanceExclusions"))) > MOST_EXCLUSIONS:
        problem = f"A cluster has at most {MOST_EXCLUSIONS} maintenance exclusions, not {pauses}."
    if problem:
        raise ApiError(400, problem)


def delete(cloud_state: CloudState, target: TargetResource) -> None:
    """Deletes a cluster's pools, and leaves what outlives it in its network."""
    for ident in cloud_state.all(NODE_POOL):
        if ident.startswith(f"{target.id}/nodePools/"):
            cloud_state.drop(NODE_POOL, ident)
    lingering.leave(cloud_state, network_id(target.text("network"), target.project), target.scope["location"])


def hosts(record: JsonObject) -> set[str]:
    """The names under which a cluster's API server is reached."""
    return {text(record, "computed", key) for key in ("endpoint", "dnsEndpoint")} - {""}
