"""A model with gated weights by a component of llmd-gke, on a pool and in a cluster that this program did not make."""

import pulumi
import pulumi_kubernetes as k8s

from components.model import Model, ModelArgs
from components.model_namespace import ModelNamespace, ModelNamespaceArgs
from llmd_gke.settings import GatewaySettings, ModelSettings, NetworkSettings, PoolSettings

config = pulumi.Config()
cluster = config.require("cluster")
# Without a constant identity, another path of the kubeconfig would replace everything in the cluster.
kubernetes = k8s.Provider(
    "kubernetes", kubeconfig=config.get("kubeconfig") or "~/.kube/config", cluster_identifier=cluster
)
# The pool is there: its settings say what its hosts are.
pool = PoolSettings(name="v6e4", machine_type="ct6e-standard-4t", topology="2x2", max_nodes=2)
settings = ModelSettings(name="gemma", pool="v6e4", uri="hf://google/gemma-3-27b-it")

namespace = ModelNamespace(
    "models",
    ModelNamespaceArgs(
        namespace=settings.namespace,
        models=[settings],
        provider=kubernetes,
        token=config.require_secret("huggingFaceToken"),
    ),
)
model = Model(
    "gemma",
    ModelArgs(
        settings=settings,
        pool=pool,
        gateway=GatewaySettings(allow_plain_http=True),
        network=NetworkSettings(proxies=config.require("proxies")),
        project=config.require("project"),
        prefix=cluster,
        source="keda",
        gateway_ip=config.require("gatewayIp"),
        provider=kubernetes,
    ),
    pulumi.ResourceOptions(depends_on=[namespace]),
)

pulumi.export("endpoint", model.endpoint)
