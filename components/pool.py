"""A node pool of hosts with TPUs or GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pulumi
import pulumi_kubernetes as k8s
from pulumi_gcp import compute, container

from components.cluster import SCOPES, Cluster
from components.fresh_apis import patient
from components.kubernetes_objects import resource
from components.project import Project
from llmd_gke.catalog.compute_class import LABEL, NODE_POOL_TAINT_EFFECT
from llmd_gke.catalog.zones import LONGEST_RUN_HOURS, RESERVATION_KEY, region_of
from llmd_gke.manifests.compute_class import compute_class
from llmd_gke.settings import PoolSettings, StackSettings

SLICE_PODS = 15
"""Maximum number of pods on a node of a multi-host slice: it runs one model pod, and each node reserves a range of
addresses for that many (AI-Hypercomputer/xpk ``src/xpk/core/nodepool.py`` @367c8382)."""


@dataclass(frozen=True, kw_only=True)
class PoolArgs:
    """``cluster`` (its name) in ``location`` gets the pool, with hosts in ``zone`` unless the settings specify another.
    Nodes run as ``node_service_account`` (an e-mail address). The name of a slice's resource policy starts with
    ``prefix``. ``disk_key`` is the full name of a Cloud KMS key for boot disks. ``provider``: of the cluster's objects,
    for the ComputeClass of a list of capacities.
    """

    settings: PoolSettings
    cluster: pulumi.Input[str]
    location: str
    zone: str
    prefix: str
    node_service_account: pulumi.Input[str]
    disk_key: str | None = None
    provider: k8s.Provider | None = None

    @classmethod
    def of(cls, settings: StackSettings, pool: PoolSettings, *, project: Project, cluster: Cluster) -> Self:
        """Those of a pool of a stack."""
        return cls(
            settings=pool,
            cluster=cluster.name,
            location=cluster.location,
            zone=settings.cluster.zone,
            prefix=settings.cluster.name,
            node_service_account=project.node_service_account,
            disk_key=settings.cluster.encryption.disks,
            provider=cluster.provider,
        )


class Pool(pulumi.ComponentResource):
    """``llmd-gke:pools:Pool``: one ``container.NodePool`` of single hosts, or of the hosts of one slice.

    A list of capacities makes a node pool for each, and a ComputeClass that orders them. A multi-host slice gets
    compact placement with its topology; tpu7x uses a ``compute.ResourcePolicy`` with a workload policy instead. GPUs
    get a driver and a taint; GKE adds the taint ``google.com/tpu`` and the accelerator labels itself. Outputs: ``pool``
    (its name; of a list, that of the preferred node pool).
    """

    pool: pulumi.Output[str]

    def __init__(self, name: str, args: PoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        former = pulumi.ResourceOptions(aliases=[pulumi.Alias(type_="llmd-gke:pools:TpuPool")])
        super().__init__("llmd-gke:pools:Pool", name, None, pulumi.ResourceOptions.merge(opts, former))
        made = [self._node_pool(name, args, pool) for pool in args.settings.node_pools]
        if args.settings.compute_class is not None:
            # GKE judges the class by its node pools, and pods that select it need one.
            after = pulumi.ResourceOptions(parent=self, provider=args.provider, depends_on=[*made])
            resource(f"{name}-class", compute_class(args.settings), after)
        self.pool = made[0].name
        self.register_outputs({"pool": self.pool})

    def _node_pool(self, name: str, args: PoolArgs, settings: PoolSettings) -> container.NodePool:
        multi_host = settings.slice.multi_host
        fixed = settings.has_fixed_size
        flex = settings.provisioning == "flex-start"
        kind, owner = settings.accelerator, args.settings.compute_class
        taints = [(kind.resource, kind.taint_value, "NO_SCHEDULE")] if kind.writes_taint else []
        taints += [] if owner is None else [(LABEL, owner, NODE_POOL_TAINT_EFFECT)]
        return container.NodePool(
            f"{settings.name}-nodes",
            name=settings.name,
            cluster=args.cluster,
            location=args.location,
            node_locations=[settings.zone_in(args.zone)],
            node_count=settings.max_nodes if fixed else None,
            initial_node_count=None if fixed else settings.first_nodes,
            autoscaling=None
            if fixed
            else container.NodePoolAutoscalingArgs(
                min_node_count=settings.min_nodes, max_node_count=settings.max_nodes, location_policy="ANY"
            ),
            max_pods_per_node=SLICE_PODS if multi_host else None,
            placement_policy=self._placement(name, args) if multi_host else None,
            # Google reclaims flex-start hosts by itself and does not repair them.
            management=container.NodePoolManagementArgs(auto_repair=not flex, auto_upgrade=True),
            # There is rarely quota for a spare TPU host: upgrades take one host out instead of adding one. Compact
            # placement excludes blue-green upgrades. Flex-start hosts have a strategy of GKE's own, SHORT_LIVED.
            upgrade_settings=None
            if flex
            else container.NodePoolUpgradeSettingsArgs(strategy="SURGE", max_surge=0, max_unavailable=1),
            node_config=container.NodePoolNodeConfigArgs(
                machine_type=settings.machine_type,
                guest_accelerators=_guests(settings),
                spot=True if settings.provisioning == "spot" else None,
                flex_start=True if flex else None,
                max_run_duration=f"{(settings.max_run_hours or LONGEST_RUN_HOURS) * 3600}s" if flex else None,
                reservation_affinity=_reservation(settings),
                disk_type=settings.family.boot_disks[0],
                disk_size_gb=settings.disk_gb,
                boot_disk_kms_key=args.disk_key,
                kubelet_config=container.NodePoolNodeConfigKubeletConfigArgs(
                    insecure_kubelet_readonly_port_enabled="FALSE"
                ),
                # Pods may not set it themselves. Without it JAX loads weights more slowly, and logs a warning.
                linux_node_config=None
                if not kind.transparent_hugepages
                else container.NodePoolNodeConfigLinuxNodeConfigArgs(
                    transparent_hugepage_enabled="TRANSPARENT_HUGEPAGE_ENABLED_ALWAYS"
                ),
                gcfs_config=container.NodePoolNodeConfigGcfsConfigArgs(enabled=True),
                gvnic=container.NodePoolNodeConfigGvnicArgs(enabled=True)
                if multi_host or settings.family.gvnic
                else None,
                labels=None if owner is None else {LABEL: owner},
                taints=[
                    container.NodePoolNodeConfigTaintArgs(key=key, value=value, effect=effect)
                    for key, value, effect in taints
                ]
                or None,
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
                # A slice keeps its shape for life. GKE rejects another machine type; for another topology the provider
                # sends no request at all, reports "updated", and plans the same change forever (the update code of
                # resource_container_node_pool.go does not know placement_policy).
                replace_on_changes=["placementPolicy", "nodeConfig.machineType"] if multi_host else None,
                delete_before_replace=True,
            ),
        )

    def _placement(self, name: str, args: PoolArgs) -> container.NodePoolPlacementPolicyArgs:
        topology = args.settings.topology_or_gpus
        if not args.settings.family.workload_policy:
            return container.NodePoolPlacementPolicyArgs(type="COMPACT", tpu_topology=topology)
        policy = compute.ResourcePolicy(
            f"{name}-workload",
            name=args.settings.workload_policy_name(args.prefix),
            region=region_of(args.location),
            workload_policy=compute.ResourcePolicyWorkloadPolicyArgs(
                type="HIGH_THROUGHPUT", accelerator_topology=topology
            ),
            opts=pulumi.ResourceOptions(
                parent=self,
                # The name is not ForceNew upstream: the provider would PATCH the policy under its new name, and Google
                # answers 404.
                replace_on_changes=["name"],
                hooks=patient(f"{name}-workload"),
            ),
        )
        return container.NodePoolPlacementPolicyArgs(type="", policy_name=policy.name, tpu_topology=topology)


def _guests(pool: PoolSettings) -> list[container.NodePoolNodeConfigGuestAcceleratorArgs] | None:
    """The GPUs of a host, and the driver that GKE installs; ``None`` for TPUs, which the machine type has."""
    if pool.accelerator.driver is None:
        return None
    driver = container.NodePoolNodeConfigGuestAcceleratorGpuDriverInstallationConfigArgs(
        gpu_driver_version=pool.accelerator.driver
    )
    return [
        container.NodePoolNodeConfigGuestAcceleratorArgs(
            type=pool.family.label_value, count=pool.slice.machine.chips, gpu_driver_installation_config=driver
        )
    ]


def _reservation(pool: PoolSettings) -> container.NodePoolNodeConfigReservationAffinityArgs:
    # Set in every case: without it, a pool consumes any matching open reservation.
    if pool.reservation is None:
        return container.NodePoolNodeConfigReservationAffinityArgs(consume_reservation_type="NO_RESERVATION")
    return container.NodePoolNodeConfigReservationAffinityArgs(
        consume_reservation_type="SPECIFIC_RESERVATION", key=RESERVATION_KEY, values=[pool.reservation.path]
    )
