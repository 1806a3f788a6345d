"""Checks of a cluster that exists: what Google says about it, and what of the platform is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from llmd_common.kubernetes.fields import get, text
from llmd_gke.catalog import versions
from llmd_gke.manifests import access
from llmd_gke.manifests.routing import gateway_class, place
from llmd_gke.rules.versions import is_older
from llmd_gke.settings import ClusterSettings, StackSettings
from operations.adopt import found
from operations.adopt.live import Live
from operations.ask.kubectl import by_kubeconfig
from operations.doctor.context import Context
from operations.doctor.google import MissingResource, items
from operations.doctor.result import Result, failed, ok, warning
from operations.exits import SetUpFailed, Unreachable

CHECK = "existing cluster"

Wants = Callable[[StackSettings], bool]
FEATURES: tuple[tuple[tuple[str, ...], str, str, Wants], ...] = (
    (
        ("workloadIdentityConfig", "workloadPool"),
        "Workload Identity",
        "--workload-pool=PROJECT.svc.id.goog",
        lambda _: True,
    ),
    (("ipAllocationPolicy", "useIpAliases"), "VPC-native addresses", "they cannot be changed later", lambda _: True),
    (
        ("addonsConfig", "gcsFuseCsiDriverConfig", "enabled"),
        "the Cloud Storage FUSE driver",
        "--update-addons=GcsFuseCsiDriver=ENABLED",
        lambda settings: settings.uses_storage,
    ),
    (
        ("networkConfig", "enableFqdnNetworkPolicy"),
        "FQDN network policies",
        "--enable-fqdn-network-policy",
        lambda settings: settings.network.egress.mode == "names",
    ),
)
"""Path in GKE's answer, its name, the flag of ``gcloud container clusters update``, and which stacks need it."""


def cluster(context: Context) -> Iterator[Result]:
    """The existing cluster has what the stack needs. No result for a stack with a cluster of its own."""
    settings = context.settings
    if settings.cluster.existing is None:
        return
    path = f"projects/{settings.project}/locations/{settings.cluster.location}/clusters/{settings.cluster.gke_name}"
    try:
        seen = context.google.ask("container.projects.locations.clusters.get", name=path)
    except MissingResource:
        fix = f"gcloud container clusters list --project {settings.project}"
        yield failed(CHECK, f"llmd-gke:cluster.existing: {path} does not exist", fix)
        return
    yield from _google(settings, seen)
    try:
        with by_kubeconfig(_kubeconfig(settings.cluster, seen, context.impersonate)) as kubectl:
            live = Live(kubectl.options)
            live.check()
            yield from inside(settings, live)
    except (Unreachable, SetUpFailed) as problem:
        message, _, fix = str(problem).partition("\nFix: ")
        yield failed(CHECK, message, fix)


def inside(settings: StackSettings, live: Live) -> Iterator[Result]:
    """What of the platform is in the cluster, the Gateway and the namespaces of the settings, missing permissions."""
    door, scaled = settings.front_door is not None, settings.scales_by("keda")
    yield from found.gateway_api(live, gateway_class(settings.gateway))
    yield from found.parts(live, settings.existing_controllers, door=door, scaled=scaled)
    gateway = place(settings.gateway)
    listed = [("v1", "namespaces", "", one) for one in settings.existing_namespaces]
    if settings.gateway.existing is not None:
        version = "gateway.networking.k8s.io/v1"
        listed.append((version, "gateways", str(gateway["namespace"]), str(gateway["name"])))
    for version, plural, space, title in listed:
        there = {
            (text(one, "metadata", "namespace"), text(one, "metadata", "name")) for one in live.items(version, plural)
        }
        if (space, title) not in there:
            shown = f"{space}/{title}" if space else title
            yield failed(
                CHECK, f"{plural.removesuffix('s')} {shown} does not exist", "correct the settings, or create it"
            )
    yield from found.refusals(live)


def _google(settings: StackSettings, seen: Mapping[str, object]) -> Iterator[Result]:
    update = f"gcloud container clusters update {settings.cluster.gke_name} --location {settings.cluster.location}"
    results: list[Result] = []
    version = text(seen, "currentMasterVersion")
    if is_older(version, versions.gke_floor()):
        message = f"GKE {version} is older than {versions.gke_floor()}, the first with the InferencePool v1 CRD"
        results.append(failed(CHECK, message, "upgrade the control plane"))
    for path, title, flag, wants in FEATURES:
        if wants(settings) and not get(seen, *path):
            results.append(
                failed(CHECK, f"{title} is not enabled", f"{update} {flag}" if flag.startswith("--") else flag)
            )
    if text(seen, "networkConfig", "datapathProvider") != "ADVANCED_DATAPATH" and not get(
        seen, "networkPolicy", "enabled"
    ):
        message = "nothing enforces NetworkPolicies: every pod may reach the models"
        results.append(warning(CHECK, message, f"{update} --enable-network-policy, or Dataplane V2 in a new cluster"))
    pools = {text(one, "name") for one in items(seen, "nodePools")}
    for key, pool in zip(settings.pool_keys, settings.pools, strict=True):
        if pool.existing and pool.name not in pools:
            results.append(
                failed(CHECK, f"{key}: there is no node pool {pool.name}", f"one of {', '.join(sorted(pools))}")
            )
        elif not pool.existing and pools & {one.name for one in pool.node_pools}:
            message = f"{key}: a node pool {pool.name} exists, of this stack or of others"
            results.append(warning(CHECK, message, "before the first `up`: choose another name, or set existing: true"))
    yield from results or [ok(CHECK, f"{settings.cluster.gke_name} {version} has what the stack needs")]


def _kubeconfig(cluster: ClusterSettings, seen: Mapping[str, object], impersonate: str | None) -> str:
    host, authority = text(seen, "endpoint"), text(seen, "masterAuth", "clusterCaCertificate")
    dns = text(seen, "controlPlaneEndpointsConfig", "dnsEndpointConfig", "endpoint")
    if cluster.endpoint == "dns":
        return access.kubeconfig(cluster.gke_name, dns, None, impersonate)
    return access.kubeconfig(cluster.gke_name, host, authority, impersonate)
