"""Compares the quotas with the maximum that the settings require.

GKE draws on Compute Engine's quotas, never on those of the Cloud TPU API. ``TPUS_PER_TPU_FAMILY`` has the dimension
``tpu_family`` and is not in ``compute.regions.get``: Service Usage reports it
(https://cloud.google.com/kubernetes-engine/docs/how-to/tpus#ensure-quota).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from llmd_common.kubernetes.fields import each, get, strings
from llmd_gke.wording import counted
from operations.cost.estimate import quotas
from operations.doctor.context import Context
from operations.doctor.google import MissingResource
from operations.doctor.result import Result, failed, ok, warning

PAGE = "https://console.cloud.google.com/iam-admin/quotas?project={project}"
CHIPS = "chip quota"

DISK_QUOTAS = {
    "hyperdisk-balanced": "HDB_TOTAL_GB",
    "pd-balanced": "SSD_TOTAL_GB",
    "pd-ssd": "SSD_TOTAL_GB",
    "pd-standard": "DISKS_TOTAL_GB",
}
"""Disk types and the regional quota they count against (https://cloud.google.com/compute/resource-usage)."""

REGIONAL = {"FORWARDING_RULES": 2, "NETWORK_ENDPOINT_GROUPS": 2}
"""Minimum use of regional quotas by a gateway: its forwarding rules, and one group per zone and kind of backend."""


def chips(context: Context) -> Iterator[Result]:
    """The limit of each quota that the pools draw on covers their ``maxNodes``; of a list, every entry counts."""
    settings = context.settings
    region = settings.cluster.region
    everywhere: Counter[str] = Counter()
    for pool in settings.pools:
        if (quota := pool.accelerator.global_quota) is not None:
            everywhere[quota] += pool.max_nodes * pool.slice.machine.chips
    for quota, need in everywhere.items():
        # 0 in new projects, whatever the region's quota is: the first line.
        yield _enough(context, f"{quota}, for all regions together,", _limit(context, quota, {}), need)
    for (quota, divided), need in quotas(settings).items():
        name = f"{quota} ({divided[1]}) in {region}" if divided else f"{quota} in {region}"
        limit = _limit(context, quota, {"region": region, **dict([divided] if divided else [])})
        yield _enough(context, name, limit, need)


def _enough(context: Context, name: str, limit: int | None, need: int) -> Result:
    if limit is None:
        return warning(CHIPS, f"{name}: Service Usage does not report it", _page(context))
    if 0 <= limit < need:
        return failed(
            CHIPS,
            f"{name} is {counted(limit, 'chip')}, but the pools may grow to {need}",
            f"request {need}: {_page(context)}, or reduce maxNodes",
        )
    return ok(CHIPS, f"{name} is {'unlimited' if limit < 0 else counted(limit, 'chip')}, {need} are needed")


def regional(context: Context) -> Iterator[Result]:
    """The region's quotas cover addresses, disks, forwarding rules and endpoint groups."""
    settings = context.settings
    need: Counter[str] = Counter(REGIONAL)
    if settings.gateway.exposure == "external":
        need["STATIC_ADDRESSES"] += 1
    if settings.network.existing is None or settings.network.existing.nat == "create":
        need["IN_USE_ADDRESSES"] += 1  # Cloud NAT
    for pool in settings.pools:
        need[DISK_QUOTAS.get(pool.family.boot_disks[0], "SSD_TOTAL_GB")] += pool.max_nodes * pool.disk_gb
    system = settings.cluster.system_pool
    need[DISK_QUOTAS[system.disk_type]] += system.max_nodes * system.disk_gb
    answer = context.google.ask("compute.regions.get", project=settings.project, region=settings.cluster.region)
    yield from _compare(context, settings.cluster.region, each(answer, "quotas"), need)


def in_project(context: Context) -> Iterator[Result]:
    """The project's global quotas cover networks, routers and health checks."""
    need: Counter[str] = Counter({"HEALTH_CHECKS": 2})
    if context.settings.network.existing is None:
        need.update({"NETWORKS": 1, "SUBNETWORKS": 2, "ROUTERS": 1, "FIREWALLS": 4})
    answer = context.google.ask("compute.projects.get", project=context.settings.project)
    yield from _compare(context, "the project", each(answer, "quotas"), need)


def _compare(
    context: Context, where: str, quotas: Iterable[Mapping[str, object]], need: Mapping[str, int]
) -> Iterator[Result]:
    by_metric = {str(quota["metric"]): quota for quota in quotas}
    short: list[str] = []
    for name, wanted in need.items():
        quota = by_metric.get(name)
        if quota is None:
            continue  # Google reports only quotas that exist
        free = float(cast("float", quota.get("limit", 0))) - float(cast("float", quota.get("usage", 0)))
        if free < wanted:
            short.append(f"{name} has {free:g} of {quota.get('limit', 0):g} left, but {wanted} are needed")
    if not short:
        count = sum(name in by_metric for name in need)
        yield ok("quota", f"{count} quotas of {where} are large enough")
    elif context.up:
        yield warning(
            "quota", f"{where}: {'; '.join(short)} (the stack is up, so part of the usage is its own)", _page(context)
        )
    else:
        yield failed("quota", f"{where}: {'; '.join(short)}", _page(context))


def _limit(context: Context, quota: str, dimensions: Mapping[str, str]) -> int | None:
    """The limit for these dimensions, in chips; -1 is unlimited, ``None`` if it is not reported."""
    metric = f"compute.googleapis.com%2F{quota.lower()}"
    name = f"projects/{context.settings.project}/services/compute.googleapis.com/consumerQuotaMetrics/{metric}"
    try:
        answer = context.google.ask("limits.services.consumerQuotaMetrics.get", name=name, view="FULL")
    except MissingResource:
        return None
    return effective(each(answer, "consumerQuotaLimits"), dimensions)


def effective(limits: Iterable[Mapping[str, object]], location: Mapping[str, str]) -> int | None:
    """The limit of the bucket with the most dimensions that all match ``location``, as ``QuotaBucket`` documents."""
    best: tuple[int, int] | None = None
    for limit in limits:
        for bucket in each(limit, "quotaBuckets"):
            dimensions = strings(get(bucket, "dimensions"))
            if all(location.get(key) == value for key, value in dimensions.items()):
                # An int64 is text in JSON, and a limit of 0 may be omitted.
                candidate = (len(dimensions), int(cast("str", bucket.get("effectiveLimit") or 0)))
                best = candidate if best is None or candidate[0] > best[0] else best
    return None if best is None else best[1]


def _page(context: Context) -> str:
    return PAGE.format(project=context.settings.project)
