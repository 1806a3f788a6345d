"""Istio's control plane for a Gateway of class ``istio``: charts, namespace, and the NetworkPolicies of both.

Value names: ``manifests/charts/istio-control/istio-discovery/values.yaml`` of istio/istio @eed52ebb.
"""

from __future__ import annotations

from collections.abc import Sequence

from llmd_gke.catalog import front_door, kserve, monitoring, registries
from llmd_gke.catalog.registries import NONE, Mirrors
from llmd_gke.gateways import gke, istio
from llmd_gke.gateways.gateway import GATEWAY_LABEL
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests import firewall, naming, platform_firewall, pod_security
from llmd_gke.manifests.charts import Release, release
from llmd_gke.manifests.named import Named, named, names
from llmd_gke.manifests.scraping import pod_monitoring
from llmd_gke.settings import NetworkSettings

HUB = "docker.io/istio"

PROXIES: JsonObject = {GATEWAY_LABEL: naming.GATEWAY_NAME}
"""Labels of the Gateway's proxies, two pods."""

DRAIN_SECONDS = front_door.DRAINING_SECONDS
"""How long a proxy that goes finishes its streams: as those of the front door."""

_SECCOMP: JsonObject = {"type": "RuntimeDefault"}


def base(folder: str | None = None, mirrors: Mirrors = NONE) -> Release:
    """Istio's CRDs, which Helm keeps when the release goes."""
    return release(istio.BASE_CHART, istio.NAMESPACE, folder, mirrors)


def cni(folder: str | None = None, mirrors: Mirrors = NONE) -> Release:
    """istio-cni, which redirects the traffic of pods with sidecars: their own init container would need NET_ADMIN."""
    values: JsonObject = {"global": {"platform": "gke", **_hub(mirrors)}}
    return release(istio.CNI_CHART, istio.CNI_NAMESPACE, folder, mirrors, values)


def _hub(mirrors: Mirrors) -> JsonObject:
    hub = registries.at(f"{HUB}/pilot", mirrors.images).removesuffix("/pilot")
    return {} if hub == HUB else {"hub": hub}


def controller(
    folder: str | None = None, mirrors: Mirrors = NONE, *, routes_pools: bool = True, mesh: bool = False
) -> Release:
    """istiod, which also makes the Gateway's Deployment and Service: two proxies, on several nodes. ``routes_pools``:
    its routes lead to InferencePools. ``mesh``: pods have sidecars, for what comes in: nothing that a server sends goes
    through the mesh.
    """
    spread: JsonObject = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": PROXIES},
    }
    # Istio's default ends every stream 5 s after a proxy was told to go.
    pod: JsonObject = {"topologySpreadConstraints": [spread], "terminationGracePeriodSeconds": DRAIN_SECONDS}
    drain: JsonObject = {"proxyMetadata": {"EXIT_ON_ZERO_ACTIVE_CONNECTIONS": "true"}}
    # As GKE's: Istio's hour is longer than the time of the servers (``rules/environment.py``), which would close
    # connections under requests. To pools, too, and from sidecars (istio ``pilot/pkg/networking/core``).
    idle: JsonObject = {"connectionPool": {"http": {"idleTimeout": f"{gke.KEEP_ALIVE_SECONDS}s"}}}
    proxies: JsonObject = {
        "deployment": {"spec": {"replicas": 2, "template": {"spec": pod}}},
        "podDisruptionBudget": {"spec": {"minAvailable": 1}},
    }
    values: JsonObject = {
        # Where only a front door routes to pools, istiod would empty the status that AI Gateway writes once: the model
        # would never be Ready.
        "env": {"ENABLE_GATEWAY_API_INFERENCE_EXTENSION": "true" if routes_pools else "false"},
        # Two control planes are no gain: running proxies keep their configuration while istiod is away.
        "autoscaleEnabled": False,
        # The chart's 500m and 2Gi do not fit beside the other controllers; 160 MB were used with one Gateway.
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        # With these the pods of istiod and of the Gateway are admitted at the level `restricted`.
        "seccompProfile": _SECCOMP,
        "gateways": {"seccompProfile": _SECCOMP},
        "gatewayClasses": {istio.CLASS: proxies},
        "meshConfig": {"accessLogEncoding": "JSON", "defaultConfig": drain, "defaultTrafficPolicy": idle},
    }
    settings = _hub(mirrors)
    if mesh:
        values["cni"] = {"enabled": True}
        # istio-cni takes an empty `includeIPRanges` for everything (istio ``cni/pkg/plugin/sidecar_redirect.go``).
        settings["proxy"] = {"excludeIPRanges": "0.0.0.0/0"}
    if settings:
        values["global"] = settings
    return release(istio.CONTROLLER_CHART, istio.NAMESPACE, folder, mirrors, values)


def objects(
    network: NetworkSettings,
    sidecars: Sequence[str],
    *,
    routes_pools: bool,
    private_nodes: bool,
    network_policies: bool,
    chart_folder: str | None,
    mirrors: Mirrors,
) -> list[Named]:
    """Namespace and NetworkPolicies of istiod, then Istio's CRDs and istiod (:func:`controller`); with ``sidecars``,
    the namespaces whose servers have some, istio-cni before it.
    """
    namespace = Named("namespace", pod_security.namespace(istio.NAMESPACE, "restricted"))
    policies = _control_plane_policies(network, sidecars, private_nodes=private_nodes) if network_policies else {}
    closed = named(policies, namespace.name)
    crds = base(chart_folder, mirrors)
    ready = names([namespace], closed)
    first = [Named(crds.name, crds, ready)]
    if sidecars:
        plugin = cni(chart_folder, mirrors)
        first.append(Named(plugin.name, plugin))
    control = controller(chart_folder, mirrors, routes_pools=routes_pools, mesh=bool(sidecars))
    return [namespace, *closed, *first, Named(control.name, control, (*ready, *names(first)))]


def _control_plane_policies(
    network: NetworkSettings, sidecars: Sequence[str], *, private_nodes: bool
) -> dict[str, JsonObject]:
    proxies: list[Json] = [firewall.in_namespace(name) for name in (naming.GATEWAY_NAMESPACE, *sidecars)]
    from_proxies: JsonObject = {
        "podSelector": {},
        "ingress": [{"from": proxies, "ports": firewall.ports(istio.XDS_PORT)}],
    }
    return {
        "default-deny": firewall.default_deny(istio.NAMESPACE),
        "allow-control-plane": platform_firewall.control_plane_policy(
            istio.NAMESPACE, network, (istio.WEBHOOK_PORT,), private_nodes=private_nodes
        ),
        "allow-proxies": firewall.policy("allow-proxies", istio.NAMESPACE, from_proxies),
    }


def metrics(interval_seconds: int) -> JsonObject:
    """The PodMonitoring of the Gateway's proxies."""
    endpoint: JsonObject = {"port": istio.METRICS_PORT, "path": istio.METRICS_PATH}
    return pod_monitoring("gateway-proxies", naming.GATEWAY_NAMESPACE, PROXIES, endpoint, interval_seconds)


def gateway_policies(namespaces: Sequence[str], ports: Sequence[int]) -> dict[str, JsonObject]:
    """NetworkPolicies of the Gateway's own namespace, in which its proxies run: everyone reaches the listeners'
    ``ports``, Google's collectors the metrics, and the proxies what has routes (``namespaces``) and istiod.
    """
    space = naming.GATEWAY_NAMESPACE
    backends: list[Json] = [firewall.in_namespace(name) for name in namespaces]
    served = firewall.ports(kserve.WORKLOAD_PORT, kserve.PICKER_PORT, front_door.CONTAINER_PORT)
    proxies: JsonObject = {
        "podSelector": {"matchLabels": PROXIES},
        "ingress": [
            {"ports": firewall.ports(*ports)},
            {
                "from": [firewall.in_namespace(monitoring.COLLECTOR_NAMESPACE)],
                "ports": firewall.ports(istio.METRICS_PORT),
            },
        ],
        "egress": [
            {"to": backends, "ports": served},
            {"to": [firewall.in_namespace(istio.NAMESPACE)], "ports": firewall.ports(istio.XDS_PORT)},
        ],
    }
    return {
        "default-deny": firewall.default_deny(space),
        "allow-clients": firewall.policy("allow-clients", space, proxies),
    }
