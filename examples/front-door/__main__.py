"""The front door of llmd-gke, with a model behind it, in a cluster that this program did not make."""

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

from components.front_door import FrontDoor, FrontDoorArgs
from components.model import Model, ModelArgs
from components.model_namespace import ModelNamespace, ModelNamespaceArgs
from llmd_gke.catalog import registries
from llmd_gke.settings import (
    CallerSettings,
    FrontDoorSettings,
    GatewaySettings,
    ModelSettings,
    NetworkSettings,
    PoolSettings,
)

config = pulumi.Config()
cluster, project, gateway_ip = config.require("cluster"), config.require("project"), config.require("gatewayIp")
google = gcp.Provider("google", project=project)
# Without a constant identity, another path of the kubeconfig would replace everything in the cluster.
kubernetes = k8s.Provider(
    "kubernetes",
    kubeconfig=config.get("kubeconfig") or "~/.kube/config",
    cluster_identifier=cluster,
    # While the Secret with the callers' keys is being replaced, the front door answers 500 to everyone.
    enable_secret_mutable=True,
)
gateway = GatewaySettings(allow_plain_http=True)
network = NetworkSettings(proxies=config.require("proxies"))
door_settings = FrontDoorSettings(callers=(CallerSettings(name="team-a", requests_per_minute=600),))
pool = PoolSettings(name="v6e1", machine_type="ct6e-standard-1t", topology="1x1", max_nodes=2)
settings = ModelSettings(name="qwen", pool="v6e1", uri="hf://Qwen/Qwen2.5-3B-Instruct")

door = FrontDoor(
    "front-door",
    FrontDoorArgs(
        settings=door_settings,
        gateway=gateway,
        network=network,
        models=[settings],
        chart_folder=None,
        mirrors=registries.NONE,
        private_nodes=True,
        gateway_ip=gateway_ip,
        provider=kubernetes,
        prefix=cluster,
        region=config.require("region"),
        network_policies=True,
        caller_keys={"team-a": config.require_secret("teamAKey")},
    ),
    pulumi.ResourceOptions(providers=[google]),
)
namespace = ModelNamespace(
    "models", ModelNamespaceArgs(namespace=settings.namespace, models=[settings], provider=kubernetes)
)
Model(
    "qwen",
    ModelArgs(
        settings=settings,
        pool=pool,
        gateway=gateway,
        network=network,
        project=project,
        prefix=cluster,
        source="keda",
        gateway_ip=gateway_ip,
        provider=kubernetes,
        door=door_settings,
        entrances=[door],
    ),
    pulumi.ResourceOptions(depends_on=[namespace]),
)

pulumi.export("baseUrl", door.base_url)
