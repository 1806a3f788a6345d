"""A TPU node pool and a model by the components of llmd-gke, in a GKE cluster that this program did not make."""

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s

from components.model import Model, ModelArgs
from components.model_namespace import ModelNamespace, ModelNamespaceArgs
from components.pool import Pool, PoolArgs
from llmd_gke.settings import GatewaySettings, ModelSettings, NetworkSettings, PoolSettings

config = pulumi.Config()
cluster = config.require("cluster")

google = gcp.Provider("google", project=config.require("project"))
# Without a constant identity, another path of the kubeconfig would replace everything in the cluster.
kubernetes = k8s.Provider(
    "kubernetes", kubeconfig=config.get("kubeconfig") or "~/.kube/config", cluster_identifier=cluster
)

pool_settings = PoolSettings(name="v6e1", machine_type="ct6e-standard-1t", topology="1x1", max_nodes=2)
model_settings = ModelSettings(name="qwen", pool="v6e1", uri="hf://Qwen/Qwen2.5-3B-Instruct")

pool = Pool(
    "v6e1",
    PoolArgs(
        settings=pool_settings,
        cluster=cluster,
        location=config.require("location"),
        zone=config.require("zone"),
        prefix=cluster,
        node_service_account=config.require("nodeServiceAccount"),
    ),
    pulumi.ResourceOptions(providers=[google]),
)
namespace = ModelNamespace(
    "models", ModelNamespaceArgs(namespace=model_settings.namespace, models=[model_settings], provider=kubernetes)
)
model = Model(
    "qwen",
    ModelArgs(
        settings=model_settings,
        pool=pool_settings,
        gateway=GatewaySettings(allow_plain_http=True),
        network=NetworkSettings(proxies=config.require("proxies")),
        project=config.require("project"),
        prefix=cluster,
        source="keda",
        gateway_ip=config.require("gatewayIp"),
        provider=kubernetes,
    ),
    pulumi.ResourceOptions(depends_on=[pool, namespace]),
)

pulumi.export("endpoint", model.endpoint)
