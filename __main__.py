"""An LLM endpoint on GKE and TPU, from an empty project to a URL, as one graph. Settings: Pulumi.<stack>.yaml."""

import pulumi

import quick_sdk

quick_sdk.switch_on()  # the graph is the same without this line, a second later (docs/upstream.md)

from components import configuration
from components.autoscaler import Autoscaler, AutoscalerArgs
from components.budget import Budget, BudgetArgs
from components.cloud_monitoring import CloudMonitoring, CloudMonitoringArgs
from components.cluster import Cluster, ClusterArgs
from components.dns_record import DnsRecord, DnsRecordArgs
from components.early_hosts import EarlyHosts, EarlyHostsArgs
from components.edge import Edge, EdgeArgs
from components.front_door import FrontDoor, FrontDoorArgs
from components.gateway_api import GatewayApi, GatewayApiArgs
from components.google import google_provider
from components.image_cache import ImageCache, ImageCacheArgs
from components.model import Model, ModelArgs
from components.model_namespace import ModelNamespace, ModelNamespaceArgs
from components.model_storage import ModelStorage, ModelStorageArgs
from components.model_weights import ModelWeights, ModelWeightsArgs
from components.network import Network, NetworkArgs
from components.platform import Platform, PlatformArgs
from components.project import Project, ProjectArgs
from components.scraping import Scraping, ScrapingArgs
from components.tpu_pool import TpuPool, TpuPoolArgs
from components.worker_preset import WorkerPreset, WorkerPresetArgs
from llmd_gke.manifests import monitoring

settings = configuration.read()
google = google_provider(settings)


def after(*earlier: pulumi.Resource) -> pulumi.ResourceOptions:
    """Options of a component that comes after others."""
    return pulumi.ResourceOptions(providers=[google], depends_on=earlier)


cluster_settings, gateway, prefix = settings.cluster, settings.gateway, settings.cluster.name

project = Project("project", ProjectArgs(settings.project, settings.apis, prefix), after())
network = Network(
    "network",
    NetworkArgs(
        settings.network,
        settings.project,
        cluster_settings.region,
        prefix,
        gateway.exposure,
        protect=cluster_settings.protect,
        audit=cluster_settings.audit,
    ),
    after(project),
)
caching = settings.image_cache
caches = (
    [
        ImageCache(
            "image-cache",
            ImageCacheArgs(caching, settings.project, cluster_settings.region, prefix),
            after(project),
        )
    ]
    if caching is not None
    else []
)
cluster = Cluster(
    "cluster",
    ClusterArgs(
        cluster_settings,
        settings.project,
        network,
        project.node_service_account,
        names_policies=settings.network.egress.mode == "names",
        cloud_trace=settings.monitoring.cloud_trace,
        scaled=bool(settings.autoscaled),
        managed_metrics=settings.scales_by("gke"),
        # While the Secret with the callers' keys is being replaced, the front door answers 500 to everyone.
        mutable_secrets=settings.front_door is not None,
        labels=settings.budget_labels,
    ),
    # Nodes pull images as soon as they run.
    after(network, *caches),
)

spending = settings.budget
if spending is not None and spending.billing_account is not None:
    Budget(
        "budget",
        BudgetArgs(spending.billing_account, settings.project, prefix, spending.amount_per_month),
        after(project),
    )

gateway_api = GatewayApi("gateway-api", GatewayApiArgs(gateway, cluster.provider), after(cluster))
platform = Platform(
    "platform",
    PlatformArgs(
        settings.platform, settings.network, settings.mirrors, cluster_settings.private_nodes, cluster, gateway_api
    ),
    after(cluster),
)
edge = Edge(
    "edge",
    EdgeArgs(
        gateway, settings.routed_namespaces, network.address_name, cluster_settings.region, prefix, cluster.provider
    ),
    after(network, gateway_api),
)
door = settings.front_door
front_doors = (
    [
        FrontDoor(
            "front-door",
            FrontDoorArgs(
                door,
                gateway,
                settings.network,
                settings.models,
                settings.platform.chart_folder,
                settings.mirrors,
                cluster_settings.private_nodes,
                network.gateway_ip,
                cluster,
                platform.cert_manager,
                edge,
                prefix,
                cluster_settings.region,
                settings.monitoring.interval_seconds if settings.monitoring.scrape else None,
                settings.platform.network_policies,
            ),
            # Beside the platform and the load balancer's Gateway: nothing in the door needs KServe.
            after(gateway_api),
        )
    ]
    if door is not None
    else []
)
if gateway.domain is not None and gateway.dns_zone is not None:
    DnsRecord(
        "dns",
        DnsRecordArgs(gateway.dns_zone, gateway.domain, gateway.dns_ttl_seconds, network.gateway_ip),
        after(project, network),
    )

autoscalers = (
    [
        Autoscaler(
            "autoscaler",
            AutoscalerArgs(
                settings.platform,
                settings.network,
                settings.mirrors,
                cluster_settings.private_nodes,
                settings.project,
                prefix,
                cluster,
            ),
            after(platform),
        )
    ]
    if settings.scales_by("keda")
    else []
)
pools = {
    pool.name: TpuPool(
        pool.name,
        TpuPoolArgs(
            pool,
            cluster=cluster.name,
            location=cluster.location,
            zone=cluster_settings.zone,
            prefix=prefix,
            node_service_account=project.node_service_account,
            disk_key=cluster_settings.encryption.disks,
            provider=cluster.provider,
        ),
        # Beside the system pool: GKE creates several node pools at once, and TPU hosts are the slowest to come.
        after(cluster.control_plane),
    )
    for pool in settings.tpu_pools
}
storage = (
    ModelStorage(
        "storage",
        ModelStorageArgs(
            settings.models,
            settings.storage.buckets,
            settings.project,
            cluster_settings.region,
            prefix,
            cluster_settings.protect,
            cluster,
        ),
        after(cluster),
    )
    if settings.uses_storage
    else None
)
namespaces = {
    name: ModelNamespace(name, ModelNamespaceArgs(name, settings.models_in(name), cluster.provider), after(gateway_api))
    for name in settings.namespaces
}
early_hosts = {
    pool.name: EarlyHosts(
        f"{pool.name}-early",
        EarlyHostsArgs(pool, model, platform, cluster.provider),
        after(pools[pool.name], namespaces[model.namespace]),
    )
    for pool in settings.tpu_pools
    if (model := settings.asks_for_early_hosts(pool)) is not None
}
if settings.monitoring.scrape:
    Scraping(
        "monitoring",
        ScrapingArgs(settings.monitoring, settings.namespaces, cluster.provider),
        after(gateway_api, *namespaces.values()),
    )
monitored = monitoring.plan(settings)
if not monitored.empty:
    watching = CloudMonitoring(
        "cloud-monitoring", CloudMonitoringArgs(monitored, network.gateway_ip, settings.project), after(project)
    )
    if watching.dashboard_url is not None:
        pulumi.export("dashboardUrl", watching.dashboard_url)
presets = {
    name: WorkerPreset(f"{name}-workers", WorkerPresetArgs(name, cluster.provider), after(platform, namespaces[name]))
    for name in settings.multi_host_namespaces
}
copies = {
    model.name: ModelWeights(
        f"{model.name}-weights",
        ModelWeightsArgs(model, settings.network, settings.mirrors, prefix, cluster.provider),
        after(namespaces[model.namespace], *([storage] if storage is not None else [])),
    )
    for model in settings.models
    if model.weights_cache is not None
}
models = {
    model.name: Model(
        model.name,
        ModelArgs(
            model,
            settings.pool(model.pool),
            gateway,
            settings.network,
            prefix,
            network.gateway_ip,
            cluster.provider,
            settings.monitoring.traces,
            door,
            settings.project,
            settings.scaling_source(model),
            entrances=[edge, *front_doors],
            autoscalers=autoscalers,
        ),
        # The servers start beside the load balancer and the front door, which take minutes.
        after(
            platform,
            namespaces[model.namespace],
            pools[model.pool],
            *([storage] if storage is not None and model.uses_buckets else []),
            *([copies[model.name]] if model.name in copies else []),
            *([early_hosts[model.pool]] if model.pool in early_hosts else []),
            *([presets[model.namespace]] if settings.spans_hosts(model) else []),
        ),
    )
    for model in settings.models
}

pulumi.export("gatewayIp", network.gateway_ip)
for front_door in front_doors:
    pulumi.export("baseUrl", front_door.base_url)
pulumi.export("models", {name: model.endpoint for name, model in models.items()})
asking = [model.curl for model in models.values() if model.curl is not None]
pulumi.export("curl", pulumi.Output.all(*asking).apply("\n".join))
pulumi.export("cluster", {"name": cluster.name, "location": cluster.location, "project": settings.project})
pulumi.export("chips", settings.totals.chips)
pulumi.export("hourlyPriceUsd", settings.totals.usd_per_hour)
pulumi.export("kubeconfig", cluster.kubeconfig)
