"""The options of a cluster that do not describe its shape: hardening, logs, metrics, encryption, maintenance."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TypedDict

from pulumi_gcp import container

from llmd_gke.settings import ClusterSettings, MaintenanceSettings

MONITORED = ["SYSTEM_COMPONENTS", "CADVISOR", "DEPLOYMENT", "KUBELET", "POD", "STATEFULSET"]
"""Metrics that GKE itself collects: of the control plane, nodes, containers and kubelets, and the states of pods,
Deployments (models) and StatefulSets (models that span hosts). Billed as samples of Managed Service for Prometheus."""

WINDOW_EPOCH = "2026-01-01"
"""The maintenance window's first day. Constant, so that no preview shows a difference."""

LOGGED = ["SYSTEM_COMPONENTS", "WORKLOADS"]
"""GKE's own default: logs of containers."""

AUDITED = ["APISERVER", "CONTROLLER_MANAGER", "SCHEDULER"]
"""Logs of the control plane. Audit entries of changes are always kept (Admin Activity)."""


class ClusterHardening(TypedDict):
    """The part of a cluster's arguments that :func:`hardening` determines."""

    anonymous_authentication_config: container.ClusterAnonymousAuthenticationConfigArgs
    rbac_binding_config: container.ClusterRbacBindingConfigArgs
    node_pool_defaults: container.ClusterNodePoolDefaultsArgs
    logging_config: container.ClusterLoggingConfigArgs
    enable_intranode_visibility: bool | None
    monitoring_config: container.ClusterMonitoringConfigArgs
    cost_management_config: container.ClusterCostManagementConfigArgs
    dns_config: container.ClusterDnsConfigArgs
    database_encryption: container.ClusterDatabaseEncryptionArgs
    binary_authorization: container.ClusterBinaryAuthorizationArgs
    secret_manager_config: container.ClusterSecretManagerConfigArgs
    maintenance_policy: container.ClusterMaintenancePolicyArgs | None


def hardening(settings: ClusterSettings, *, collected: Collection[str] = ()) -> ClusterHardening:
    """The hardening of every cluster (``docs/security.md``), and the options that the settings enable.

    ``collected``: what GKE collects beside :data:`MONITORED`.
    """
    keys = settings.encryption
    return {
        "anonymous_authentication_config": container.ClusterAnonymousAuthenticationConfigArgs(mode="LIMITED"),
        "rbac_binding_config": container.ClusterRbacBindingConfigArgs(
            enable_insecure_binding_system_authenticated=False, enable_insecure_binding_system_unauthenticated=False
        ),
        "node_pool_defaults": container.ClusterNodePoolDefaultsArgs(
            node_config_defaults=container.ClusterNodePoolDefaultsNodeConfigDefaultsArgs(
                insecure_kubelet_readonly_port_enabled="FALSE",
                gcfs_config=container.ClusterNodePoolDefaultsNodeConfigDefaultsGcfsConfigArgs(enabled=True),
            )
        ),
        "logging_config": container.ClusterLoggingConfigArgs(
            enable_components=[*LOGGED, *AUDITED] if settings.audit else LOGGED
        ),
        # Never switched off: with Dataplane V2 it may be GKE's own default.
        "enable_intranode_visibility": True if settings.audit else None,
        "monitoring_config": container.ClusterMonitoringConfigArgs(
            enable_components=sorted([*MONITORED, *collected]) if collected else MONITORED,
            managed_prometheus=container.ClusterMonitoringConfigManagedPrometheusArgs(enabled=True),
        ),
        "cost_management_config": container.ClusterCostManagementConfigArgs(enabled=True),
        "dns_config": container.ClusterDnsConfigArgs(cluster_dns="CLOUD_DNS", cluster_dns_scope="CLUSTER_SCOPE"),
        # Disabled options are written, too: the provider leaves an option unchanged if its block is missing, so that an
        # enabled one would stay enabled.
        "database_encryption": container.ClusterDatabaseEncryptionArgs(state="ENCRYPTED", key_name=keys.database)
        if keys.database
        else container.ClusterDatabaseEncryptionArgs(state="DECRYPTED"),
        "binary_authorization": container.ClusterBinaryAuthorizationArgs(
            evaluation_mode="PROJECT_SINGLETON_POLICY_ENFORCE" if settings.binary_authorization else "DISABLED"
        ),
        "secret_manager_config": container.ClusterSecretManagerConfigArgs(enabled=settings.secret_manager),
        "maintenance_policy": _maintenance(settings.maintenance) if settings.maintenance else None,
    }


def _maintenance(times: MaintenanceSettings) -> container.ClusterMaintenancePolicyArgs:
    start = datetime.fromisoformat(f"{WINDOW_EPOCH}T{times.start}:00")
    end = start + timedelta(hours=times.hours)
    return container.ClusterMaintenancePolicyArgs(
        recurring_window=container.ClusterMaintenancePolicyRecurringWindowArgs(
            start_time=f"{start.isoformat()}Z",
            end_time=f"{end.isoformat()}Z",
            recurrence=f"FREQ=WEEKLY;BYDAY={','.join(times.days)}",
        ),
        maintenance_exclusions=[
            container.ClusterMaintenancePolicyMaintenanceExclusionArgs(
                exclusion_name=pause.name,
                start_time=f"{pause.start}T00:00:00Z",
                end_time=f"{pause.end}T00:00:00Z" if pause.end else None,
                exclusion_options=container.ClusterMaintenancePolicyMaintenanceExclusionExclusionOptionsArgs(
                    scope=pause.scope, end_time_behavior=None if pause.end else "UNTIL_END_OF_SUPPORT"
                ),
            )
            for pause in times.exclusions
        ],
    )
