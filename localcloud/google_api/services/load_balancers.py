"""Compute Engine: backend services, their groups of endpoints, and which endpoints are healthy.

GKE's Gateway controller makes them, not the program: those of a laptop cloud are the backends of its gateway, and
healthy is what that gateway's Envoy finds healthy. The rehearsal has none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from localcloud.gke_gateway.health import Seen, seen
from localcloud.google_api.core.errors import not_found
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules import control_plane, lingering
from localcloud.google_api.rules.references import CLUSTER
from localcloud.google_api.rules.resource_type import CloudState, digits
from localcloud.google_api.services.compute_operations import begin
from localcloud.google_api.services.links import compute_link
from localcloud.product import region_of
from localcloud.providers.protocol.values import JsonObject, JsonValue


def _backends(request: Request) -> Mapping[str, tuple[Seen, ...]]:
    """The backends of the cluster's gateway; empty for another project or region."""
    if not control_plane.is_real():
        return {}
    with request.cloud.state() as cloud_state:
        if not _zones(cloud_state, request):
            return {}
    return seen(Path(os.environ["LLMD_GKE_HOME"]))


def _zones(cloud_state: CloudState, request: Request) -> list[str]:
    """The zones of the groups: the first zone of each cluster of the project in the requested region."""
    region, zone_names = request.at.get("region"), list[str]()
    for key in cloud_state.all(CLUSTER):
        _, project, _, location, *_ = key.split("/")
        if project == request.at["project"] and region in (None, region_of(location)):
            zone_names.append(location if location.count("-") > 1 else f"{location}-a")
    return zone_names


def _name(backend: str) -> str:
    """The name of a backend service: as long as Compute Engine allows, and as unpredictable as GKE's."""
    return f"gkegw1-{digits(backend, 8)}-{backend.replace('_', '-')}"[:63].rstrip("-")


def _group(request: Request, backend: str) -> str:
    with request.cloud.state() as cloud_state:
        zone = _zones(cloud_state, request)[0]
    return f"projects/{request.at['project']}/zones/{zone}/networkEndpointGroups/k8s1-{_name(backend)[7:]}"


@answers("compute.regionBackendServices.list")
def services(request: Request) -> JsonObject:
    """Lists the backend services of a region, each with its group."""
    scope = f"projects/{request.at['project']}/regions/{request.at['region']}"
    backend_services: list[JsonValue] = []
    for backend in sorted(_backends(request)):
        path = f"{scope}/backendServices/{_name(backend)}"
        group: JsonObject = {"group": compute_link(_group(request, backend)), "balancingMode": "RATE"}
        backend_services.append(
            {
                "kind": "compute#backendService",
                "id": digits(path),
                "name": _name(backend),
                "region": compute_link(scope),
                "loadBalancingScheme": "EXTERNAL_MANAGED",
                "backends": [group],
                "selfLink": compute_link(path),
            }
        )
    return request.page("items", backend_services, kind="compute#backendServiceList")


@answers("compute.regionBackendServices.getHealth")
def health(request: Request) -> JsonObject:
    """Returns the current health of every endpoint of a backend service, as the gateway sees it."""
    wanted = request.at["backendService"]
    for backend, endpoints in _backends(request).items():
        if _name(backend) == wanted:
            states: list[JsonValue] = [
                {
                    "ipAddress": one.address,
                    "port": one.port,
                    "healthState": "HEALTHY" if one.healthy else "UNHEALTHY",
                }
                for one in endpoints
            ]
            return {"kind": "compute#backendServiceGroupHealth", "healthStatus": states}
    raise not_found(f"projects/{request.at['project']}/regions/{request.at['region']}/backendServices/{wanted}")


@answers("compute.networkEndpointGroups.aggregatedList")
def groups(request: Request) -> JsonObject:
    """Lists the endpoint groups of all backends, and those that a deleted cluster left, by zone."""
    groups_by_zone: dict[str, list[JsonValue]] = {}
    with request.cloud.state() as cloud_state:
        left = lingering.groups(cloud_state)
    for path, network in left:
        scope = path.rpartition("/networkEndpointGroups/")[0]
        group: JsonObject = {"name": path.rpartition("/")[2], "selfLink": compute_link(path), "size": 0}
        group |= {"network": compute_link(network), "zone": compute_link(scope)}
        if path.split("/")[1] == request.at["project"]:
            groups_by_zone.setdefault("/".join(path.split("/")[2:4]), []).append(group)
    for backend, endpoints in sorted(_backends(request).items()):
        path = _group(request, backend)
        shown: JsonObject = {
            "kind": "compute#networkEndpointGroup",
            "id": digits(path),
            "name": path.rpartition("/")[2],
            "networkEndpointType": "GCE_VM_IP_PORT",
            "size": len(endpoints),
            "selfLink": compute_link(path),
        }
        groups_by_zone.setdefault("/".join(path.split("/")[2:4]), []).append(shown)
    items: JsonObject = {zone: {"networkEndpointGroups": one} for zone, one in groups_by_zone.items()}
    return {"kind": "compute#networkEndpointGroupAggregatedList", "items": items}


@answers("compute.networkEndpointGroups.delete")
def delete_group(request: Request) -> JsonObject:
    """Deletes an endpoint group that a deleted cluster left."""
    at = request.at
    path = f"projects/{at['project']}/zones/{at['zone']}/networkEndpointGroups/{at['networkEndpointGroup']}"
    with request.cloud.state() as cloud_state:
        if not lingering.collect(cloud_state, path):
            raise not_found(path)
    return begin(request, "delete", path)
