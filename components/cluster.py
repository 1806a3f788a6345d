"""The GKE cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Self, cast

import pulumi
import pulumi_kubernetes as k8s
from pulumi_gcp import container

from components.cluster_hardening import hardening
from components.existing_cluster import Found, found
from components.fresh_apis import patient
from components.network import Network
from components.optional import present
from components.project import Project
from llmd_gke.catalog import scaling, tracing
from llmd_gke.catalog.existing import Part
from llmd_gke.manifests import access
from llmd_gke.manifests.gateway import gateway_class
from llmd_gke.settings import ClusterSettings, StackSettings

SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
"""What a node may do is decided by its service account's roles."""

SLOW = pulumi.CustomTimeouts(create="60m", update="60m", delete="60m")


@dataclass(frozen=True, kw_only=True)
class ClusterArgs:
    """``node_service_account`` is the e-mail address nodes run as, ``impersonate`` that of the service account which
    kubectl's plugin impersonates (default: none). ``names_policies`` enables FQDNNetworkPolicies,
    ``cloud_trace`` runs GKE's own OpenTelemetry collector. ``collected``: what GKE collects beside the metrics of every
    cluster. ``managed_metrics`` prepares for GKE's managed adapter of metrics. ``mutable_secrets``: a changed Secret is
    updated, where the provider would delete it and create another one. ``labels`` are set on the cluster itself, where
    policies look for them. ``controllers`` (Deployments, ``NAMESPACE/NAME``) and ``gateway_class``: what an existing
    cluster has.
    """

    settings: ClusterSettings
    project: str
    network: Network
    node_service_account: pulumi.Output[str]
    impersonate: str | None = None
    names_policies: bool = False
    cloud_trace: bool = False
    collected: Collection[str] = ()
    managed_metrics: bool = False
    mutable_secrets: bool = False
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    controllers: Mapping[Part, str] = field(default_factory=dict[Part, str])
    gateway_class: str | None = None

    @classmethod
    def of(cls, settings: StackSettings, *, project: Project, network: Network, impersonate: str | None) -> Self:
        """Those of a stack."""
        return cls(
            settings=settings.cluster,
            project=settings.project,
            network=network,
            node_service_account=project.node_service_account,
            impersonate=impersonate,
            names_policies=settings.network.egress.mode == "names",
            cloud_trace=settings.monitoring.cloud_trace,
            collected=settings.collected,
            managed_metrics=settings.scales_by("gke"),
            # While the Secret with the callers' keys is being replaced, the front door answers 500 to everyone.
            mutable_secrets=settings.front_door is not None,
            labels={**settings.cluster.labels, **settings.budget_labels},
            controllers=settings.existing_controllers,
            gateway_class=gateway_class(settings.gateway) if settings.gateway.is_googles else None,
        )


class Cluster(pulumi.ComponentResource):
    """``llmd-gke:cluster:Cluster``: a GKE cluster with its system node pool and a Kubernetes provider for it. Of an
    existing cluster, only the provider: the cluster is read.

    The Gateway API channel and HTTP load balancing are enabled from the start: when they were enabled later,
    GatewayClasses took up to 45 minutes to appear. Outputs: ``name``, ``location``, ``kubeconfig`` (secret),
    ``provider`` (Kubernetes), ``path`` (known once the cluster exists), ``control_plane`` (``None`` for a cluster of
    others, which outlives the stack), ``found`` (its controllers).
    """

    control_plane: container.Cluster | None = None
    name: pulumi.Output[str]
    path: pulumi.Output[str]
    location: str
    kubeconfig: pulumi.Output[str]
    provider: k8s.Provider
    found: Mapping[Part, Found]

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("llmd-gke:cluster:Cluster", name, None, opts)
        settings, project = args.settings, args.project
        system_pool = None
        if settings.existing is None:
            cluster, system_pool = self._new(name, args)
            self.control_plane = cluster
            self.name = cluster.name
        else:
            path = f"projects/{project}/locations/{settings.location}/clusters/{settings.gke_name}"
            cluster = container.Cluster.get(f"{name}-existing", path, opts=pulumi.ResourceOptions(parent=self))
            self.name = pulumi.Output.from_input(settings.gke_name)
        self.path = cluster.id
        self.location = settings.location
        self.kubeconfig = pulumi.Output.secret(_kubeconfig(settings, cluster, args.impersonate))
        self.provider = k8s.Provider(
            f"{name}-kubernetes",
            kubeconfig=self.kubeconfig,
            # Without a constant identity, a kubeconfig that is unknown in a preview would replace everything in the
            # cluster.
            cluster_identifier=f"{project}/{settings.location}/{settings.gke_name}",
            enable_secret_mutable=True if args.mutable_secrets else None,
            opts=pulumi.ResourceOptions(parent=self, depends_on=present(system_pool)),
        )
        self.found = {}
        if settings.existing is not None:
            read = pulumi.ResourceOptions(parent=self, provider=self.provider)
            self.found = found(name, args.controllers, args.gateway_class, read)
        versions = {part.key: one.version for part, one in self.found.items()}
        self.register_outputs({"name": self.name, "kubeconfig": self.kubeconfig, **versions})

    def _new(self, name: str, args: ClusterArgs) -> tuple[container.Cluster, container.NodePool]:
        settings, project = args.settings, args.project
        by_dns = settings.endpoint == "dns"
        cluster = container.Cluster(
            f"{name}-control-plane",
            name=settings.name,
            location=settings.location,
            node_locations=[settings.node_zone] if settings.control_plane == "regional" else None,
            network=args.network.network,
            subnetwork=args.network.subnet,
            networking_mode="VPC_NATIVE",
            ip_allocation_policy=container.ClusterIpAllocationPolicyArgs(
                cluster_secondary_range_name=args.network.pods_range,
                services_secondary_range_name=args.network.services_range,
            ),
            # Dataplane V2 enforces NetworkPolicies itself; the older add-on must stay disabled.
            datapath_provider="ADVANCED_DATAPATH",
            enable_fqdn_network_policy=args.names_policies or None,
            gateway_api_config=container.ClusterGatewayApiConfigArgs(channel="CHANNEL_STANDARD"),
            addons_config=container.ClusterAddonsConfigArgs(
                http_load_balancing=container.ClusterAddonsConfigHttpLoadBalancingArgs(disabled=False),
                gcs_fuse_csi_driver_config=container.ClusterAddonsConfigGcsFuseCsiDriverConfigArgs(enabled=True),
            ),
            managed_opentelemetry_config=container.ClusterManagedOpentelemetryConfigArgs(scope=tracing.MANAGED_SCOPE)
            if args.cloud_trace
            else None,
            pod_autoscaling=container.ClusterPodAutoscalingArgs(hpa_profile=scaling.HPA_PROFILE)
            if args.managed_metrics
            else None,
            resource_labels=args.labels or None,
            release_channel=container.ClusterReleaseChannelArgs(channel=settings.release_channel),
            min_master_version=settings.min_version,
            workload_identity_config=container.ClusterWorkloadIdentityConfigArgs(
                workload_pool=f"{project}.svc.id.goog"
            ),
            # An idle TPU host costs as much as a busy one: it is removed as soon as nothing needs it. Node pools are
            # made by the program only, so node auto-provisioning stays off.
            cluster_autoscaling=container.ClusterClusterAutoscalingArgs(
                enabled=False, autoscaling_profile="OPTIMIZE_UTILIZATION"
            ),
            enable_shielded_nodes=True,
            **hardening(settings, collected=args.collected),
            private_cluster_config=container.ClusterPrivateClusterConfigArgs(
                enable_private_nodes=settings.private_nodes,
                enable_private_endpoint=None if by_dns else settings.endpoint == "private",
            ),
            control_plane_endpoints_config=container.ClusterControlPlaneEndpointsConfigArgs(
                dns_endpoint_config=container.ClusterControlPlaneEndpointsConfigDnsEndpointConfigArgs(
                    allow_external_traffic=by_dns
                ),
                ip_endpoints_config=container.ClusterControlPlaneEndpointsConfigIpEndpointsConfigArgs(
                    enabled=not by_dns
                ),
            ),
            master_authorized_networks_config=None
            if by_dns
            else container.ClusterMasterAuthorizedNetworksConfigArgs(
                cidr_blocks=[
                    container.ClusterMasterAuthorizedNetworksConfigCidrBlockArgs(cidr_block=cidr, display_name=label)
                    for label, cidr in sorted(settings.authorized_networks.items())
                ],
                # Otherwise any virtual machine on Google Cloud, of any customer, may connect.
                gcp_public_cidrs_access_enabled=False,
                # Otherwise every address of the VPC and of connected networks may connect.
                private_endpoint_enforcement_enabled=True,
            ),
            # The default pool cannot be configured sufficiently here: it is removed and replaced by the system pool
            # below.
            remove_default_node_pool=True,
            initial_node_count=1,
            node_config=container.ClusterNodeConfigArgs(
                machine_type="e2-medium",
                service_account=args.node_service_account,
                oauth_scopes=SCOPES,
                boot_disk_kms_key=settings.encryption.disks,
            ),
            deletion_protection=settings.deletion_protection,
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=settings.protect,
                custom_timeouts=SLOW,
                hooks=patient(f"{name}-control-plane"),
                ignore_changes=[
                    # They describe the removed default pool; a difference there would replace the cluster
                    # (pulumi/pulumi-gcp#744).
                    "nodeConfig",
                    "initialNodeCount",
                    # Without IP endpoints the provider sends no enablePublicEndpoint, and reads an answer without it as
                    # "private" (resource_container_cluster.go flattenPrivateClusterConfig): a difference that no update
                    # would resolve.
                    *(["privateClusterConfig.enablePrivateEndpoint"] if by_dns else []),
                ],
            ),
        )
        system_pool = container.NodePool(
            f"{name}-system",
            name="system",
            cluster=cluster.name,
            location=settings.location,
            node_locations=[settings.node_zone],
            initial_node_count=settings.system_pool.min_nodes,
            autoscaling=container.NodePoolAutoscalingArgs(
                min_node_count=settings.system_pool.min_nodes, max_node_count=settings.system_pool.max_nodes
            ),
            management=container.NodePoolManagementArgs(auto_repair=True, auto_upgrade=True),
            node_config=container.NodePoolNodeConfigArgs(
                machine_type=settings.system_pool.machine_type,
                disk_type=settings.system_pool.disk_type,
                disk_size_gb=settings.system_pool.disk_gb,
                boot_disk_kms_key=settings.encryption.disks,
                kubelet_config=container.NodePoolNodeConfigKubeletConfigArgs(
                    insecure_kubelet_readonly_port_enabled="FALSE"
                ),
                service_account=args.node_service_account,
                oauth_scopes=SCOPES,
                shielded_instance_config=container.NodePoolNodeConfigShieldedInstanceConfigArgs(
                    enable_secure_boot=True, enable_integrity_monitoring=True
                ),
                workload_metadata_config=container.NodePoolNodeConfigWorkloadMetadataConfigArgs(mode="GKE_METADATA"),
            ),
            opts=pulumi.ResourceOptions(
                parent=self, custom_timeouts=SLOW, ignore_changes=["initialNodeCount"], delete_before_replace=True
            ),
        )
        return cluster, system_pool


def _kubeconfig(settings: ClusterSettings, cluster: container.Cluster, impersonate: str | None) -> pulumi.Output[str]:
    if settings.endpoint == "dns":
        # The DNS endpoint has a public certificate.
        return cluster.control_plane_endpoints_config.apply(
            lambda values: _dns_kubeconfig(settings.gke_name, values.dns_endpoint_config, impersonate)
        )
    parts = pulumi.Output.all(cluster.endpoint, cluster.master_auth.cluster_ca_certificate)
    return parts.apply(lambda values: access.kubeconfig(settings.gke_name, str(values[0]), str(values[1]), impersonate))


def _dns_kubeconfig(
    name: str,
    config: container.outputs.ClusterControlPlaneEndpointsConfigDnsEndpointConfig | None,
    impersonate: str | None,
) -> str:
    """Raises ``RunError`` if Google reports no endpoint."""
    endpoint = config.endpoint if config else None
    if not endpoint and pulumi.runtime.is_dry_run():
        # The state of a cluster whose creation failed late (deletion of its default pool, for example) has no endpoint.
        # The engine updates such a cluster in any case, and reads it then.
        return cast("str", pulumi.UNKNOWN)
    if not endpoint:
        raise pulumi.RunError(
            "the cluster has no DNS endpoint although its settings require one.\nFix: run `pulumi refresh` and try "
            "again; or set `llmd-gke:cluster.endpoint: ip` with authorizedNetworks"
        )
    return access.kubeconfig(name, endpoint, None, impersonate)
