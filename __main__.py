"""An LLM endpoint on GKE and TPU, from an empty project to a URL, as one graph. Settings: Pulumi.<stack>.yaml."""

import pulumi

from components import configuration
from components.cluster import Cluster, ClusterArgs
from components.dns_record import DnsRecord, DnsRecordArgs
from components.edge import Edge, EdgeArgs
from components.gateway_api import GatewayApi, GatewayApiArgs
from components.google import google_provider
from components.model import Model, ModelArgs
from components.model_namespace import ModelNamespace, ModelNamespaceArgs
from components.model_storage import ModelStorage, ModelStorageArgs
from components.network import Network, NetworkArgs
from components.platform import Platform, PlatformArgs
from components.project import Project, ProjectArgs
from components.tpu_pool import TpuPool, TpuPoolArgs
from components.worker_preset import WorkerPreset, WorkerPresetArgs

settings = configuration.read()
google = google_provider(settings)


def after(*earlier: pulumi.Resource) -> pulumi.ResourceOptions:
    """Options of a component that comes after others."""
    return pulumi.ResourceOptions(providers=[google], depends_on=earlier)


project = Project("project", ProjectArgs(settings), after())
network = Network("network", NetworkArgs(settings), after(project))
cluster = Cluster("cluster", ClusterArgs(settings, network, project.node_service_account), after(network))

gateway_api = GatewayApi("gateway-api", GatewayApiArgs(settings.gateway, cluster.provider), after(cluster))
platform = Platform("platform", PlatformArgs(settings, cluster, gateway_api), after(cluster))
edge = Edge("edge", EdgeArgs(settings, network, cluster.provider), after(network, gateway_api))
if settings.gateway.dns_zone is not None:
    DnsRecord("dns", DnsRecordArgs(settings, network.gateway_ip), after(project, network))

pools = {
    pool.name: TpuPool(pool.name, TpuPoolArgs(settings, pool, cluster, project.node_service_account), after(cluster))
    for pool in settings.tpu_pools
}
storage = (
    ModelStorage("storage", ModelStorageArgs(settings, cluster), after(cluster)) if settings.uses_storage else None
)
namespaces = {
    name: ModelNamespace(name, ModelNamespaceArgs(settings, name, cluster.provider), after(gateway_api))
    for name in settings.namespaces
}
presets = {
    name: WorkerPreset(f"{name}-workers", WorkerPresetArgs(name, cluster.provider), after(platform, namespaces[name]))
    for name in settings.multi_host_namespaces
}
models = {
    model.name: Model(
        model.name,
        ModelArgs(settings, model, network.gateway_ip, cluster.provider),
        after(
            platform,
            edge,
            namespaces[model.namespace],
            pools[model.pool],
            *([storage] if storage is not None and model.uses_buckets else []),
            *([presets[model.namespace]] if settings.spans_hosts(model) else []),
        ),
    )
    for model in settings.models
}

pulumi.export("gatewayIp", network.gateway_ip)
pulumi.export("models", {name: model.endpoint for name, model in models.items()})
pulumi.export("cluster", {"name": cluster.name, "location": cluster.location, "project": settings.project})
pulumi.export("chips", settings.totals.chips)
pulumi.export("hourlyPriceUsd", settings.totals.usd_per_hour)
pulumi.export("kubeconfig", cluster.kubeconfig)
