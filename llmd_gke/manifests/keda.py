"""KEDA, for stacks whose replicas follow a load that GKE's managed adapter cannot read: its chart and its
NetworkPolicies.

Value names: ``keda/values.yaml`` of the chart (kedacore/charts @1444d00, 2.20.2); ports: its templates.
"""

from __future__ import annotations

from llmd_gke.catalog import registries, scaling, versions
from llmd_gke.catalog.registries import NONE, Mirrors
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests import egress, firewall, identity, platform_firewall, pod_security
from llmd_gke.manifests.charts import Release
from llmd_gke.manifests.named import Named, named, names
from llmd_gke.manifests.scaling import authentication
from llmd_gke.settings import NetworkSettings

REGISTRY = "ghcr.io"

_REQUESTS: JsonObject = {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}


ACCESS = "access"
"""What the component brings: the operator's permission to read metrics."""


def objects(
    cluster: str,
    *,
    network: NetworkSettings | None,
    private_nodes: bool,
    chart_folder: str | None,
    mirrors: Mirrors,
    existing: bool = False,
) -> list[Named]:
    """The namespace, closed if ``network`` is given, the chart, and what ScaledObjects refer to; only that if there is
    an ``existing`` KEDA.
    """
    space = Named("namespace", pod_security.namespace(scaling.KEDA_NAMESPACE, "baseline"))
    closed = {} if network is None else network_policies(network, private_nodes=private_nodes)
    first = [space, *named(closed, space.name)]
    if existing:
        return [Named("authentication", authentication(), (ACCESS,))]
    chart = Named(scaling.KEDA_CHART, release(cluster, chart_folder, mirrors), (*names(first), ACCESS))
    return [*first, chart, Named("authentication", authentication(), (chart.name,))]


def account(cluster: str) -> str:
    """The operator's service account. It contains the cluster's name: clusters of a project share identities."""
    return identity.account("keda", cluster)


def release(cluster: str, folder: str | None = None, mirrors: Mirrors = NONE) -> Release:
    """The chart: operator, metrics server and webhooks, one replica each, without telemetry of its own.

    ``folder`` has a folder for each chart. Without it the chart comes from its Helm repository, even if there are
    mirrors, which are for OCI registries; the images come from ``mirrors``.
    """
    pinned = versions.archive(scaling.KEDA_CHART)
    registry, _, path = registries.at(f"{REGISTRY}/x", mirrors.images).removesuffix("/x").partition("/")
    prefix = f"{path}/" if path else ""
    images: JsonObject = {
        key: {"registry": registry, "repository": f"{prefix}kedacore/{name}"}
        for key, name in {
            "keda": "keda",
            "metricsApiServer": "keda-metrics-apiserver",
            "webhooks": "keda-admission-webhooks",
        }.items()
    }
    values: JsonObject = {
        "image": {**images, "pullPolicy": "IfNotPresent"},
        "clusterName": cluster,
        "serviceAccount": {"operator": {"name": account(cluster)}},
        "resources": {"operator": _REQUESTS, "metricServer": _REQUESTS, "webhooks": _REQUESTS},
    }
    chart = pinned.home if folder is None else f"{folder.rstrip('/')}/{scaling.KEDA_CHART}"
    return Release(scaling.KEDA_CHART, scaling.KEDA_NAMESPACE, chart, None, values)


def network_policies(network: NetworkSettings, *, private_nodes: bool) -> dict[str, JsonObject]:
    """Closes KEDA's namespace except for what it needs.

    Admitted are requests from the API server to the webhooks and to the metrics server, from the metrics server to the
    operator, from all pods to the API server, and from the operator to Google's metadata server and APIs.
    """
    space = scaling.KEDA_NAMESPACE
    operator: JsonObject = {"matchLabels": {"app": scaling.KEDA_OPERATOR}}
    metrics: JsonObject = {"matchLabels": {"app": scaling.KEDA_METRICS}}
    asked = firewall.ports(scaling.KEDA_GRPC_PORT)
    outside: JsonObject = {"cidr": "0.0.0.0/0", "except": list[Json](egress.NOT_OUTSIDE)}
    google: list[Json] = [{"to": [{"ipBlock": outside}], "ports": firewall.ports(443)}, *firewall.identity_server()]
    return {
        "default-deny": firewall.default_deny(space),
        "allow-control-plane": platform_firewall.control_plane_policy(
            space, network, (scaling.KEDA_WEBHOOK_PORT, scaling.KEDA_METRICS_PORT), private_nodes=private_nodes
        ),
        "allow-operator": firewall.policy(
            "allow-operator",
            space,
            {
                "podSelector": operator,
                "ingress": [{"from": [{"podSelector": metrics}], "ports": asked}],
                "egress": google,
            },
        ),
        "allow-metrics": firewall.policy(
            "allow-metrics",
            space,
            {"podSelector": metrics, "egress": [{"to": [{"podSelector": operator}], "ports": asked}]},
        ),
    }
