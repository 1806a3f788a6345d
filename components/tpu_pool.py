"""A node pool of TPU hosts."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.cluster import SCOPES, Cluster
from components.sdk import container
from llmd_gke.settings import StackSettings, TpuPoolSettings


@dataclass(frozen=True)
class TpuPoolArgs:
    """``pool`` is the one of the stack's pools to make, ``node_service_account`` the e-mail address
    its nodes run as.
    """

    settings: StackSettings
    pool: TpuPoolSettings
    cluster: Cluster
    node_service_account: pulumi.Output[str]


class TpuPool(pulumi.ComponentResource):
    """``llmd-gke:pools:TpuPool``: one ``container.NodePool`` of single-host TPU slices.

    GKE adds the taint ``google.com/tpu`` and the accelerator labels itself. Outputs: ``pool`` (its name).
    """

    pool: pulumi.Output[str]

    def __init__(self, name: str, args: TpuPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:pools:TpuPool", name, None, opts)
        settings = args.pool
        pool = container.NodePool(
            f"{name}-nodes",
            name=settings.name,
            cluster=args.cluster.name,
            location=args.cluster.location,
            node_locations=[args.settings.cluster.zone],
            initial_node_count=settings.min_nodes,
            autoscaling=container.NodePoolAutoscalingArgs(
                min_node_count=settings.min_nodes, max_node_count=settings.max_nodes, location_policy="ANY"
            ),
            management=container.NodePoolManagementArgs(auto_repair=True, auto_upgrade=True),
            # There is rarely quota for a spare TPU host: upgrades take one host out instead of adding one.
            upgrade_settings=container.NodePoolUpgradeSettingsArgs(strategy="SURGE", max_surge=0, max_unavailable=1),
            node_config=container.NodePoolNodeConfigArgs(
                machine_type=settings.machine_type,
                spot=True if settings.capacity == "spot" else None,
                reservation_affinity=container.NodePoolNodeConfigReservationAffinityArgs(
                    consume_reservation_type="NO_RESERVATION"
                ),
                disk_type=settings.family.boot_disks[0],
                disk_size_gb=settings.disk_gb,
                gcfs_config=container.NodePoolNodeConfigGcfsConfigArgs(enabled=True),
                service_account=args.node_service_account,
                oauth_scopes=SCOPES,
                shielded_instance_config=container.NodePoolNodeConfigShieldedInstanceConfigArgs(
                    enable_secure_boot=True, enable_integrity_monitoring=True
                ),
                workload_metadata_config=container.NodePoolNodeConfigWorkloadMetadataConfigArgs(mode="GKE_METADATA"),
            ),
            opts=pulumi.ResourceOptions(
                parent=self,
                # Without capacity GKE retries for about 35 minutes before it gives up.
                custom_timeouts=pulumi.CustomTimeouts(create="45m", update="45m", delete="45m"),
                # The autoscaler owns the number of nodes after creation.
                ignore_changes=["initialNodeCount"],
                delete_before_replace=True,
            ),
        )
        self.pool = pool.name
        self.register_outputs({"pool": self.pool})
