"""Alerts on cost, capacity and configuration drift."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.catalog.metrics import DRIFT_RESOURCE, LOCATION, QUOTA_RESOURCE, Google, quota_metric
from llmd_gke.manifests import promql
from llmd_gke.manifests.alerts.alert import Alert
from llmd_gke.manifests.alerts.replicas import MINUTE
from llmd_gke.settings import StackSettings

QUOTA = "https://cloud.google.com/monitoring/alerts/using-quota-metrics"

IDLE_PERCENT = 1
QUOTA_SHARE = 0.9


def alerts(settings: StackSettings) -> tuple[Alert, ...]:
    """The alerts that need no immediate action."""
    drift = f'{Google.DRIFT}{{monitored_resource="{DRIFT_RESOURCE}",cluster="{settings.cluster.name}"}}'
    return (
        *_idle(settings),
        Alert(
            name="QuotaAlmostUsed",
            expression=" or ".join(_quota_use(settings)),
            seconds=15 * MINUTE,
            severity="info",
            origin="google",
            means="More than 90 % of a quota of chips in the region is used. The next replica, or the extra host of an "
            "update, may not get its chips.",
            do=(
                "`llmd-gke doctor --stack STACK` compares quotas with the maximum that the settings may need.",
                "Request more in the console (IAM, Quotas); this can take days.",
            ),
            source=QUOTA,
        ),
        Alert(
            name="ConfigurationDrift",
            expression=f"max(last_over_time({drift}[26h])) > 0",
            seconds=0,
            severity="warning",
            origin="google",
            means="The nightly comparison found resources that differ from the program: somebody changed or deleted "
            "them by hand.",
            do=(
                "`pulumi refresh --preview-only --diff --stack STACK` lists them.",
                "Wanted: put the change into the settings. Unwanted: `pulumi up --refresh` undoes it.",
            ),
            source="https://www.pulumi.com/docs/iac/cli/commands/pulumi_refresh/",
        ),
    )


def _idle(settings: StackSettings) -> Iterator[Alert]:
    """One for each kind of accelerator that the pools have, such as ``TpuIdle``."""
    for kind in {pool.accelerator.name: pool.accelerator for pool in settings.pools}.values():
        percent = f"{kind.metrics.utilization}{promql.chips(settings, kind.metrics)}"
        yield Alert(
            name=f"{kind.name.capitalize()}Idle",
            expression=f"avg by ({kind.metrics.node}) (avg_over_time({percent}[1h])) < {IDLE_PERCENT}",
            seconds=120 * MINUTE,
            severity="info",
            origin="google",
            means=f"A {kind.name} host has computed almost nothing for three hours and is billed.",
            do=(
                "If nobody uses the model: set `stopped: true`, `scaling.idleAfterSeconds`, or fewer `replicas`.",
                "If the host runs no server: lower `minNodes` of its pool.",
            ),
            source=kind.metrics.source,
        )


def _quota_use(settings: StackSettings) -> Iterator[str]:
    """Expressions for the share (0 to 1) of each quota of the stack's pools that is in use."""
    region = settings.cluster.region
    seen: set[tuple[str, str | None]] = set()
    for pool in settings.node_pools:
        quota = pool.quota.split()[0]
        divided = pool.accelerator.quota_dimension(pool.family, quota)
        key = (quota, divided[1] if divided else None)
        if key in seen:
            continue
        seen.add(key)
        if divided is None:
            selector = (
                f'{{monitored_resource="{QUOTA_RESOURCE}",location="{region}",'
                f'quota_metric="compute.googleapis.com/{quota.lower()}"}}'
            )
            usage, limit, by = Google.QUOTA_USAGE, Google.QUOTA_LIMIT, "by (quota_metric, location)"
        else:
            label, value = divided
            selector = f'{{monitored_resource="{LOCATION}",location="{region}",{label}="{value}"}}'
            usage, limit = quota_metric(quota, "usage"), quota_metric(quota, "limit")
            by = f"by ({label}, location)"
        yield f"max {by} ({usage}{selector}) / (min {by} ({limit}{selector}) > 0) > {QUOTA_SHARE:g}"
