"""An LLM endpoint on GKE, with TPUs or GPUs, from an empty project to a URL. Settings: Pulumi.<stack>.yaml."""

import pulumi

import quick_sdk

quick_sdk.switch_on()  # the graph is the same without this line, a second later (docs/contributing/upstream.md)

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
from components.google import google_provider, impersonated
from components.image_cache import ImageCache, ImageCacheArgs
from components.istio import Istio, IstioArgs
from components.model import Model, ModelArgs
from components.model_namespace import ModelNamespace, ModelNamespaceArgs
from components.model_storage import ModelStorage, ModelStorageArgs
from components.model_weights import ModelWeights, ModelWeightsArgs
from components.network import Network, NetworkArgs
from components.optional import optional, present
from components.platform import Platform, PlatformArgs
from components.pool import Pool, PoolArgs
from components.project import Project, ProjectArgs
from components.scraping import Scraping, ScrapingArgs
from components.worker_preset import WorkerPreset, WorkerPresetArgs

settings, secrets = configuration.read()
google = google_provider(settings)


def after(*earlier: pulumi.Resource | None) -> pulumi.ResourceOptions:
    """Options of a component that comes after others, as far as the stack has them."""
    return pulumi.ResourceOptions(providers=[google], depends_on=present(*earlier))


project = Project("project", ProjectArgs.of(settings), after())
network = Network("network", NetworkArgs.of(settings), after(project))
image_cache = optional(ImageCacheArgs.of(settings), lambda args: ImageCache("image-cache", args, after(project)))
cluster = Cluster(
    "cluster",
    ClusterArgs.of(settings, project=project, network=network, impersonate=impersonated()),
    # Nodes pull images as soon as they run. The subnet of the load balancer's proxies may come beside the cluster.
    after(project, image_cache, *network.for_nodes),
)
optional(BudgetArgs.of(settings), lambda args: Budget("budget", args, after(project)))

gateway_api = optional(
    GatewayApiArgs.of(settings, cluster=cluster), lambda args: GatewayApi("gateway-api", args, after(cluster))
)
istio = optional(IstioArgs.of(settings, cluster=cluster), lambda args: Istio("istio", args, after(gateway_api)))
platform = Platform("platform", PlatformArgs.of(settings, cluster=cluster, gateway_api=gateway_api), after(cluster))
edge = optional(
    EdgeArgs.of(settings, secrets, network=network, cluster=cluster, platform=platform),
    lambda args: Edge("edge", args, after(network, gateway_api, istio)),
)
door = optional(
    FrontDoorArgs.of(settings, secrets, network=network, cluster=cluster, platform=platform, edge=edge),
    # Beside the platform and the load balancer's Gateway: nothing in the door needs KServe.
    lambda args: FrontDoor("front-door", args, after(gateway_api)),
)
optional(DnsRecordArgs.of(settings, network=network), lambda args: DnsRecord("dns", args, after(project, network)))
autoscaler = optional(
    AutoscalerArgs.of(settings, cluster=cluster), lambda args: Autoscaler("autoscaler", args, after(platform))
)

pools = {
    pool.name: Pool(
        pool.name,
        PoolArgs.of(settings, pool, project=project, cluster=cluster),
        # Beside the system pool: GKE creates several node pools at once, and TPU hosts are the slowest to come.
        after(cluster.control_plane),
    )
    for pool in settings.pools
    if not pool.existing
}
storage = optional(
    ModelStorageArgs.of(settings, cluster=cluster), lambda args: ModelStorage("storage", args, after(cluster))
)
namespaces = {
    name: ModelNamespace(name, ModelNamespaceArgs.of(settings, secrets, name, cluster=cluster), after(gateway_api))
    for name in settings.namespaces
}
early_hosts = {
    pool.name: EarlyHosts(f"{pool.name}-early", args, after(pools.get(pool.name), namespaces[args.model.namespace]))
    for pool in settings.pools
    if (args := EarlyHostsArgs.of(settings, pool, cluster=cluster, platform=platform)) is not None
}
optional(
    ScrapingArgs.of(settings, cluster=cluster),
    lambda args: Scraping("monitoring", args, after(gateway_api, *namespaces.values())),
)
cloud_monitoring = optional(
    CloudMonitoringArgs.of(settings, secrets, gateway_ip=network.gateway_ip),
    lambda args: CloudMonitoring("cloud-monitoring", args, after(project)),
)
presets = {
    name: WorkerPreset(
        f"{name}-workers",
        WorkerPresetArgs(namespace=name, provider=cluster.provider),
        after(platform, namespaces[name]),
    )
    for name in settings.multi_host_namespaces
}
copies = {
    (model.model_name, model.weights_uri): ModelWeights(
        f"{model.name}-weights", args, after(namespaces[model.namespace], storage)
    )
    for model in settings.copied
    if (args := ModelWeightsArgs.of(settings, model, cluster=cluster)) is not None
}
models = {
    model.name: Model(
        model.name,
        ModelArgs.of(
            settings,
            model,
            network=network,
            cluster=cluster,
            entrances=present(edge, door),
            autoscalers=present(autoscaler),
        ),
        # The servers start beside the load balancer and the front door, which take minutes.
        after(
            platform,
            namespaces[model.namespace],
            pools.get(model.pool),
            storage if model.uses_buckets else None,
            copies.get((model.model_name, model.weights_uri)),
            early_hosts.get(model.pool),
            presets[model.namespace] if settings.spans_hosts(model) else None,
            istio if settings.gateway.mesh else None,
        ),
    )
    for model in settings.models
}

if cloud_monitoring and cloud_monitoring.dashboard_url:
    pulumi.export("dashboardUrl", cloud_monitoring.dashboard_url)
pulumi.export("gatewayIp", network.gateway_ip)
if door:
    pulumi.export("baseUrl", door.base_url)
pulumi.export("models", {name: model.endpoint for name, model in models.items()})
pulumi.export("curl", pulumi.Output.all(*present(*(model.curl for model in models.values()))).apply("\n".join))
pulumi.export("cluster", {"name": cluster.name, "location": cluster.location, "project": settings.project})
pulumi.export("chips", settings.totals.chips)
pulumi.export("hourlyPriceUsd", settings.totals.usd_per_hour)
pulumi.export("kubeconfig", cluster.kubeconfig)
