"""Compute Engine: machine types and the zones that have them, reservations, and single hosts.

``doctor --probe`` makes such a host. TPU machine types are in the zones of the catalogue, all others everywhere.
"""

from __future__ import annotations

import re

from localcloud.google_api.core.errors import ApiError, exists, not_found
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules.capacity import chips_of, quota_limit
from localcloud.google_api.rules.pools_view import memory_gb_of, vcpus_of
from localcloud.google_api.rules.resource_type import digits
from localcloud.google_api.services.compute_operations import begin
from localcloud.google_api.services.links import compute_link
from localcloud.product import accelerators, zones
from localcloud.providers.protocol.values import JsonObject, JsonValue, text

CREATED = "2026-01-01T00:00:00.000-08:00"
ZONES = sorted(zones.known_zones())
"""The zones of the catalogue."""


# -- machine types -----------------------------------------------------------------------------------------------------


def _machine(project: str, zone: str, name: str) -> JsonObject | None:
    """A machine type as Compute Engine shows it, ``None`` where the zone has none of that name."""
    family, host = accelerators.family_of(name), accelerators.host_of(name)
    vcpus, memory_gb = (host.vcpus, host.memory_gb) if host else (vcpus_of(name), memory_gb_of(name))
    absent = zone not in family.zones if family else accelerators.accelerator_of(name) is not None
    if absent or vcpus is None or memory_gb is None:
        return None
    shown: JsonObject = {
        "kind": "compute#machineType",
        "id": digits(name),
        "name": name,
        "zone": zone,
        "guestCpus": vcpus,
        "memoryMb": memory_gb * 1024,
        "selfLink": compute_link(f"projects/{project}/zones/{zone}/machineTypes/{name}"),
    }
    if host and family and accelerators.accelerator_of(name):
        chips: JsonObject = {"guestAcceleratorType": family.quota_family.lower(), "guestAcceleratorCount": host.chips}
        shown["accelerators"] = [chips]
    return shown


@answers("compute.machineTypes.get")
def machine_type(request: Request) -> JsonObject:
    """Returns a machine type, if the zone has it."""
    project, zone, name = (request.at[key] for key in ("project", "zone", "machineType"))
    if machine := _machine(project, zone, name):
        return machine
    raise not_found(f"projects/{project}/zones/{zone}/machineTypes/{name}")


@answers("compute.machineTypes.aggregatedList")
def machine_types(request: Request) -> JsonObject:
    """Lists the zones with the machine type that the filter names. Raises :class:`ApiError` 501 for other filters."""
    asked = re.fullmatch(r'name ?(?:=|eq) ?"?([\w-]+)"?', request.query.get("filter", ""))
    if not asked:
        raise ApiError(501, "the emulator lists machine types by the filter name=… only")
    by_zone: JsonObject = {}
    for zone in ZONES:
        one = _machine(request.at["project"], zone, asked[1])
        empty: JsonObject = {"warning": {"code": "NO_RESULTS_ON_PAGE", "message": "There are no results for scope."}}
        by_zone[f"zones/{zone}"] = {"machineTypes": [one]} if one else empty
    return {"kind": "compute#machineTypeAggregatedList", "items": by_zone}


# -- reservations and hosts --------------------------------------------------------------------------------------------


def _key(request: Request, name: str = "") -> str:
    """The path of what a request is about; ``name`` where the request's own path does not have it."""
    collection = request.method.id.split(".")[1]
    name = name or request.at[collection.removesuffix("s")]
    return f"projects/{request.at['project']}/zones/{request.at['zone']}/{collection}/{name}"


def _new_key(request: Request) -> str:
    """The path of the resource that a request creates. Raises :class:`ApiError` if it exists."""
    key = _key(request, text(request.body, "name"))
    if key in request.cloud.resources:
        raise exists(key)
    return key


def _keep(request: Request, key: str, kind: str, **more: JsonValue) -> JsonObject:
    own: JsonObject = {"kind": kind, "id": digits(key), "selfLink": compute_link(key), "creationTimestamp": CREATED}
    request.cloud.resources[key] = {**request.body, **own, **more}
    return begin(request, "insert", key)


@answers("compute.reservations.get", "compute.instances.get")
def get(request: Request) -> JsonObject:
    """Returns a reservation or a host."""
    key = _key(request)
    return request.cloud.found(key, not_found(key))


@answers("compute.reservations.delete", "compute.instances.delete")
def delete(request: Request) -> JsonObject:
    """Deletes a reservation, or a host with its disk."""
    key = _key(request)
    if request.cloud.resources.pop(key, None) is None:
        raise not_found(key)
    return begin(request, "delete", key)


@answers("compute.reservations.insert")
def reserve(request: Request) -> JsonObject:
    """Creates a reservation of hosts."""
    key = _new_key(request)
    zone = compute_link(key.partition("/reservations")[0])
    return _keep(request, key, "compute#reservation", zone=zone, status="READY")


@answers("compute.instances.insert")
def make_host(request: Request) -> JsonObject:
    """Makes a host; whether the zone has one and the quota allows it is found out by the operation."""
    link, key = text(request.body, "machineType"), _new_key(request)
    machine = link.rpartition("/")[2]
    if _machine(request.at["project"], request.at["zone"], machine) is None:
        raise ApiError(400, f"Invalid value for field 'resource.machineType': '{link}'. It does not exist.", "invalid")
    if problem := _problem(request, key, machine):
        return begin(request, "insert", key, problem[1], problem[0])
    if failure := request.failure:
        return begin(request, "insert", key, failure)
    return _keep(request, key, "compute#instance", status="RUNNING")


def _problem(request: Request, key: str, machine: str) -> tuple[str, str] | None:
    """Code and message of what keeps a TPU host from being made."""
    chips, zone, conditions = chips_of(machine), request.at["zone"], request.cloud.faults.conditions
    if not chips:
        return None
    if zone in conditions.listed("stockout"):
        where = key.partition("/instances")[0]
        return "ZONE_RESOURCE_POOL_EXHAUSTED", (
            f"The zone '{where}' does not have enough resources available to fulfill the request. "
            "Try a different zone, or try again later."
        )
    spot = text(request.body, "scheduling", "provisioningModel") == "SPOT"
    limit = quota_limit({"nodeConfig": {"machineType": machine, "spot": spot}}, conditions)
    if chips > limit:
        family = accelerators.family_of(machine)
        name = accelerators.quota_name(family, preemptible=spot) if family else ""
        return "QUOTA_EXCEEDED", f"Quota '{name}' exceeded. Limit: {limit:g} in region {zones.region_of(zone)}."
    return None


@answers("compute.disks.aggregatedList")
def disks(request: Request) -> JsonObject:
    """Returns no disks: those of nodes and hosts are deleted with them."""
    del request
    return {"kind": "compute#diskAggregatedList", "items": {}}
