"""One small program for two Kubernetes providers, see ``localcloud/tests/real_kubernetes/test_providers_agree.py``.

``stage.json`` beside it says in which shape it is to be. The kubeconfig comes from a cluster, so that it is unknown in
the first preview.
"""

from __future__ import annotations

import json
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s
from pulumi_gcp import compute, container
from pulumi_kubernetes import core, helm, networking

from llmd_gke.manifests import access

stage: dict[str, str] = json.loads(Path("stage.json").read_text())
network = compute.Network("net", name="agree", auto_create_subnetworks=False)
subnet = compute.Subnetwork("sub", name="agree", network=network.id, region="europe-west4", ip_cidr_range="10.0.0.0/20")
cluster = container.Cluster(
    "gke",
    name="agree",
    location="europe-west4",
    network=network.id,
    subnetwork=subnet.id,
    initial_node_count=1,
    gateway_api_config=container.ClusterGatewayApiConfigArgs(channel="CHANNEL_STANDARD"),
    deletion_protection=False,
)
parts = pulumi.Output.all(cluster.endpoint, cluster.master_auth.cluster_ca_certificate)
kubeconfig = pulumi.Output.secret(
    parts.apply(lambda values: access.kubeconfig("agree", str(values[0]), str(values[1])))
)
provider = k8s.Provider("k8s", kubeconfig=kubeconfig, cluster_identifier="agree")
inside = pulumi.ResourceOptions(provider=provider)

namespace = core.v1.Namespace("namespace", metadata={"name": "agree", "labels": {"label": stage["value"]}}, opts=inside)
inside = pulumi.ResourceOptions(provider=provider, depends_on=[namespace])
core.v1.ConfigMap("named", metadata={"name": "named", "namespace": "agree"}, data={"key": stage["value"]}, opts=inside)
core.v1.ConfigMap("renamed", metadata={"name": f"is-{stage['value']}", "namespace": "agree"}, opts=inside)
core.v1.Secret(
    "secret",
    metadata={"name": "secret", "namespace": "agree"},
    string_data={"token": pulumi.Output.secret(f"geheim-{stage['value']}")},
    opts=inside,
)
core.v1.ServiceAccount("account", metadata={"name": "account", "namespace": "agree"}, opts=inside)
networking.v1.NetworkPolicy(
    "firewall",
    metadata={"name": "firewall", "namespace": "agree"},
    spec=networking.v1.NetworkPolicySpecArgs(
        pod_selector=k8s.meta.v1.LabelSelectorArgs(match_labels={"app": stage["value"]}), policy_types=["Ingress"]
    ),
    opts=inside,
)
k8s.apiextensions.CustomResource(
    "route",
    api_version="gateway.networking.k8s.io/v1",
    kind="HTTPRoute",
    metadata={"name": "route", "namespace": "agree"},
    spec={"hostnames": [f"{stage['value']}.example.com"]},
    opts=inside,
)
helm.v3.Release(
    "release",
    name="release",
    namespace="agree",
    chart=stage["chart"],
    values={"value": stage["value"]},
    opts=inside,
)
if stage.get("more"):
    core.v1.ConfigMap("more", metadata={"name": "more", "namespace": "agree"}, opts=inside)
pulumi.export("uid", namespace.metadata.uid)
