"""Cloud Monitoring of a stack: notification channels, alert policies, dashboard and uptime checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, cast

import pulumi
from pulumi_gcp import monitoring

from components.configuration import StackSecrets
from components.fresh_apis import patient
from llmd_gke.catalog.monitoring import UPTIME_PERIOD_SECONDS
from llmd_gke.manifests.alerts import Channel
from llmd_gke.manifests.alerts.channels import SENSITIVE
from llmd_gke.manifests.dashboard.google import console_link
from llmd_gke.manifests.monitoring import MonitoringPlan, Policy, UptimeCheck, uptime
from llmd_gke.manifests.monitoring import plan as monitoring_plan
from llmd_gke.settings import StackSettings


@dataclass(frozen=True, kw_only=True)
class CloudMonitoringArgs:
    """``gateway_ip`` is the host that uptime checks call if the gateway has no domain; ``project`` is the project
    ID. ``secrets`` are those that the plan's channels name.
    """

    plan: MonitoringPlan
    gateway_ip: pulumi.Output[str]
    project: str
    secrets: Mapping[str, pulumi.Input[str]]

    @classmethod
    def of(cls, settings: StackSettings, secrets: StackSecrets, *, gateway_ip: pulumi.Output[str]) -> Self | None:
        """Those of a stack that enables any of it."""
        plan = monitoring_plan(settings)
        if plan.empty:
            return None
        names = {name for channel in plan.channels for name in channel.secrets.values()}
        return cls(
            plan=plan,
            gateway_ip=gateway_ip,
            project=settings.project,
            secrets={name: secrets.named(name) for name in names},
        )


class CloudMonitoring(pulumi.ComponentResource):
    """``llmd-gke:monitoring:CloudMonitoring``: notification channels, alerting policies, dashboard, uptime checks.

    The settings enable each of them. It does not need the cluster, because policies may refer to metrics that do not
    exist yet. Secrets of channels are secrets of the stack. A channel that is removed from the settings is deleted
    after the policies are updated, because Google refuses to delete a channel that a policy uses. Output:
    ``dashboard_url``, the dashboard's address in the console; ``None`` without a dashboard.
    """

    dashboard_url: pulumi.Output[str] | None = None

    def __init__(self, name: str, args: CloudMonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:monitoring:CloudMonitoring", name, None, opts)
        plan, child = args.plan, pulumi.ResourceOptions(parent=self)
        made = {one.key: _channel(f"{name}-{one.key}", one, args, child) for one in plan.channels}
        for policy in plan.policies:
            _policy(f"{name}-{policy.key}", policy, [made[key].name for key in policy.channels], child)
        if plan.dashboard is not None:
            opts = _patient(f"{name}-dashboard", child)
            dashboard = monitoring.Dashboard(f"{name}-dashboard", dashboard_json=plan.dashboard, opts=opts)
            self.dashboard_url = dashboard.id.apply(lambda ident: console_link(ident, args.project))
        for check in plan.checks:
            host = args.gateway_ip if check.host is None else pulumi.Output.from_input(check.host)
            _uptime_check(f"{name}-{check.key}", check, plan, host, child)
        self.register_outputs({} if self.dashboard_url is None else {"dashboardUrl": self.dashboard_url})


def _channel(
    name: str, channel: Channel, args: CloudMonitoringArgs, opts: pulumi.ResourceOptions
) -> monitoring.NotificationChannel:
    secrets = {label: pulumi.Output.secret(args.secrets[secret]) for label, secret in channel.secrets.items()}
    sensitive = {label: value for label, value in secrets.items() if label in SENSITIVE}
    shown = {label: value for label, value in secrets.items() if label not in SENSITIVE}
    # The provider treats labels as public; an address that contains a token is secret.
    hidden = pulumi.ResourceOptions(additional_secret_outputs=["labels"] if shown else None)
    return monitoring.NotificationChannel(
        name,
        type=channel.type,
        display_name=channel.display_name,
        labels={**channel.labels, **shown},
        sensitive_labels=cast("monitoring.NotificationChannelSensitiveLabelsArgsDict", sensitive or None),
        user_labels=args.plan.labels,
        opts=pulumi.ResourceOptions.merge(_patient(name, opts), hidden),
    )


def _patient(name: str, opts: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(hooks=patient(name)))


def _policy(name: str, policy: Policy, notified: list[pulumi.Output[str]], opts: pulumi.ResourceOptions) -> None:
    body = policy.body
    monitoring.AlertPolicy(
        name,
        display_name=cast("str", body["displayName"]),
        combiner=cast("str", body["combiner"]),
        enabled=cast("bool", body["enabled"]),
        severity=cast("str | None", body.get("severity")),
        conditions=cast("list[monitoring.AlertPolicyConditionArgsDict]", body["conditions"]),
        documentation=cast("monitoring.AlertPolicyDocumentationArgsDict", body["documentation"]),
        alert_strategy=cast("monitoring.AlertPolicyAlertStrategyArgsDict", body["alertStrategy"]),
        user_labels=cast("dict[str, str]", body["userLabels"]),
        notification_channels=notified,
        opts=_patient(name, opts),
    )


def _uptime_check(
    name: str,
    check: UptimeCheck,
    plan: MonitoringPlan,
    host: pulumi.Output[str],
    opts: pulumi.ResourceOptions,
) -> None:
    monitoring.UptimeCheckConfig(
        name,
        display_name=check.title,
        period=f"{UPTIME_PERIOD_SECONDS}s",
        timeout=f"{uptime.TIMEOUT_SECONDS}s",
        monitored_resource={
            "type": "uptime_url",
            # Google adds the project's ID. Without it here, the provider would replace the check with every change.
            "labels": {"project_id": plan.project, "host": host},
        },
        http_check=monitoring.UptimeCheckConfigHttpCheckArgs(
            path=check.path,
            use_ssl=check.use_ssl,
            validate_ssl=check.validate_ssl,
            accepted_response_status_codes=None
            if check.status is None
            else [monitoring.UptimeCheckConfigHttpCheckAcceptedResponseStatusCodeArgs(status_value=check.status)],
        ),
        user_labels=plan.labels,
        opts=_patient(name, opts),
    )
