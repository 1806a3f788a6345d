"""Quotas: those of a region and of a project in Compute Engine, and chips by TPU family in Service Usage.

The fault ``quota`` sets limits, by a metric's name (``HDB_TOTAL_GB``) or a TPU family's (``CT6E``); without it there is
plenty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from localcloud.google_api.core.cloud import EmulatedCloud
from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules.capacity import DEFAULT_QUOTA
from localcloud.google_api.rules.references import NODE_POOL
from localcloud.google_api.rules.resource_type import CloudState, digits
from localcloud.google_api.services.links import COMPUTE
from localcloud.product import ACCELERATORS, FAMILIES, zones
from localcloud.providers.protocol.values import JsonObject, JsonValue, number, objects, text

LIMIT = 5000.0
"""Limit of every quota that no fault names, except quotas of chips."""

OF_PROJECT = ("NETWORKS", "SUBNETWORKS", "ROUTERS", "FIREWALLS", "HEALTH_CHECKS", "SSL_CERTIFICATES")
OF_REGION = (
    "STATIC_ADDRESSES", "IN_USE_ADDRESSES", "HDB_TOTAL_GB", "SSD_TOTAL_GB", "DISKS_TOTAL_GB", "FORWARDING_RULES",
    "NETWORK_ENDPOINT_GROUPS", "RESOURCE_POLICIES",
)  # fmt: skip
_COUNTED = {
    "networks": "NETWORKS",
    "subnetworks": "SUBNETWORKS",
    "routers": "ROUTERS",
    "firewalls": "FIREWALLS",
    "sslCertificates": "SSL_CERTIFICATES",
    "addresses": "STATIC_ADDRESSES",
    "resourcePolicies": "RESOURCE_POLICIES",
}
"""Collections of Compute Engine, and the quota that each member takes one of."""
_DISKS = {"hyperdisk-balanced": "HDB_TOTAL_GB", "pd-standard": "DISKS_TOTAL_GB"}


def of_project(cloud: EmulatedCloud, project: str) -> list[JsonValue]:
    """The global quotas of a project, with their usage."""
    return list(_shown(cloud, OF_PROJECT, _used(cloud, f"projects/{project}/")))


def of_region(cloud: EmulatedCloud, project: str, region: str) -> list[JsonValue]:
    """The quotas of a project in a region, with their usage."""
    used = _used(cloud, f"projects/{project}/regions/{region}/")
    with cloud.state() as cloud_state:
        used.update(_disks(cloud, cloud_state, project, region))
    return list(_shown(cloud, OF_REGION, used))


def _used(cloud: EmulatedCloud, prefix: str) -> Counter[str]:
    used: Counter[str] = Counter()
    for key, resource in cloud.resources.items():
        quota = _COUNTED.get(key.split("/")[-2]) if key.startswith(prefix) else None
        if quota and text(resource, "addressType") != "INTERNAL":
            used[quota] += 1
        used["IN_USE_ADDRESSES"] += len(objects(resource, "nats")) if quota == "ROUTERS" else 0
    return used


def _disks(cloud: EmulatedCloud, cloud_state: CloudState, project: str, region: str) -> Counter[str]:
    """GB of the boot disks of nodes."""
    used: Counter[str] = Counter()
    for key, record in cloud_state.all(NODE_POOL).items():
        _, owner, _, location, *_ = key.split("/")
        if owner == project and zones.region_of(location) == region:
            config = cloud.resources.get(key, {}).get("config", {})
            quota = _DISKS.get(text(config, "diskType"), "SSD_TOTAL_GB")
            used[quota] += (number(record, "nodes") or 0) * (number(config, "diskSizeGb") or 0)
    return used


def _limit(cloud: EmulatedCloud, name: str, usual: float) -> float:
    limit = cloud.faults.conditions.value("quota", name)
    return float(limit) if isinstance(limit, int | float) else usual


def _shown(cloud: EmulatedCloud, names: tuple[str, ...], used: Counter[str]) -> Iterator[JsonValue]:
    for name in names:
        yield {"metric": name, "limit": _limit(cloud, name, LIMIT), "usage": float(used[name])}


@answers("compute.projects.get")
def project(request: Request) -> JsonObject:
    """A project as Compute Engine shows it."""
    name = request.at["project"]
    return {
        "kind": "compute#project",
        "id": digits(name),
        "name": name,
        "selfLink": f"{COMPUTE}/projects/{name}",
        "quotas": of_project(request.cloud, name),
    }


@answers("serviceusage.services.consumerQuotaMetrics.get")
def metric(request: Request) -> JsonObject:
    """Limits of one metric: chips of each family, which Compute Engine does not tell."""
    name = request.at["name"]
    called = name.rpartition("%2F")[2].upper()
    limits: list[JsonValue] = []
    divided = next((kind for kind in ACCELERATORS if called in kind.quota_dimensions), None)
    if divided is not None:
        dimension = divided.quota_dimensions[called]
        buckets: list[JsonValue] = [{"effectiveLimit": "0", "defaultLimit": "0"}]
        for family in divided.families:
            for region in sorted({zones.region_of(zone) for zone in family.zones}):
                dimensions: JsonObject = {"region": region, dimension: family.quota_family}
                buckets.append(_bucket(request.cloud, family.quota_family, dimensions))
        limits = [_of_metric(name, f"1/{{project}}/{{region}}/{{{dimension}}}", buckets)]
    elif family := next((one for one in FAMILIES if called in (one.spot_quota, one.quota)), None):
        regions = sorted({zones.region_of(zone) for zone in family.zones})
        limited = family.quota_family if called == family.quota else called
        buckets = [_bucket(request.cloud, limited, {"region": region}) for region in regions]
        limits = [_of_metric(name, "1/{project}/{region}", buckets)]
    elif any(kind.global_quota == called for kind in ACCELERATORS):
        limits = [_of_metric(name, "1/{project}", [_bucket(request.cloud, called, {})])]
    else:
        raise ApiError(404, f"Quota metric {called} not found.")
    return {"name": name, "metric": f"compute.googleapis.com/{called.lower()}", "consumerQuotaLimits": limits}


def _bucket(cloud: EmulatedCloud, quota: str, dimensions: JsonObject) -> JsonObject:
    limit = str(int(_limit(cloud, quota, DEFAULT_QUOTA)))
    return {"effectiveLimit": limit, "defaultLimit": limit, "dimensions": dimensions}


def _of_metric(name: str, unit: str, buckets: list[JsonValue]) -> JsonObject:
    return {"name": f"{name}/limits/{unit.replace('/', '%2F')}", "unit": unit, "quotaBuckets": buckets}
