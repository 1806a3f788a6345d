"""Checks of a cluster that exists: what Google says about it, and what of the platform is in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from llmd_common.kubernetes.fields import each, get, key, name, text
from llmd_gke.catalog import versions
from llmd_gke.manifests import access
from llmd_gke.manifests.gateway import gateway_class
from llmd_gke.rules import existing as rules
from llmd_gke.rules.versions import is_older
from llmd_gke.settings import StackSettings
from operations.ask.kubectl import by_kubeconfig
from operations.doctor import platform
from operations.doctor.context import Context
from operations.doctor.google import MissingResource
from operations.doctor.result import Result, failed, ok, warning
from operations.exits import SetUpFailed, Unreachable

CHECK = "existing cluster"


def cluster(context: Context) -> Iterator[Result]:
    """The existing cluster has what the stack needs. No result for a stack with a cluster of its own."""
    settings, place = context.settings, context.settings.cluster
    if place.existing is None:
        return
    path = f"projects/{settings.project}/locations/{place.location}/clusters/{place.gke_name}"
    try:
        seen = context.google.ask("container.projects.locations.clusters.get", name=path)
    except MissingResource:
        fix = f"gcloud container clusters list --project {settings.project}"
        yield failed(CHECK, f"llmd-gke:cluster.existing: {path} does not exist", fix)
        return
    yield from _google(settings, seen) or [ok(CHECK, f"{place.gke_name} has what the stack needs")]
    host, authority = text(seen, "endpoint"), text(seen, "masterAuth", "clusterCaCertificate") or None
    if place.endpoint == "dns":
        host, authority = text(seen, "controlPlaneEndpointsConfig", "dnsEndpointConfig", "endpoint"), None
    try:
        with by_kubeconfig(access.kubeconfig(place.gke_name, host, authority, context.impersonate)) as kubectl:
            live = platform.Live(kubectl.options)
            yield from [*inside(settings, live), *live.refusals()]
    except (Unreachable, SetUpFailed) as problem:
        message, _, fix = str(problem).partition("\nFix: ")
        yield failed(CHECK, message, fix)


def inside(settings: StackSettings, live: platform.Live) -> Iterator[Result]:
    """What of the platform is in the cluster, and whether it has the Gateway and the namespaces of the settings."""
    door, scaled = settings.front_door is not None, settings.scales_by("keda")
    gateway = settings.gateway
    yield platform.gateway_api(live, gateway_class(gateway) if gateway.is_googles else None)
    own = () if gateway.is_googles else (gateway.implementation,)
    yield from platform.parts(live, settings.existing_controllers, door=door, scaled=scaled, gateways=own)
    present = gateway.existing
    if present is not None and (present.namespace, present.name) not in [key(one) for one in live.of(platform.GATEWAY)]:
        title = f"Gateway {present.namespace}/{present.name}"
        yield failed(CHECK, f"{title} does not exist", "correct gateway.existing, or create it")
    spaces = {name(one): one for one in live.of("Namespace")}
    for space in settings.namespaces:
        listed = space in settings.existing_namespaces
        if listed and space not in spaces:
            yield failed(CHECK, f"namespace {space} does not exist", "remove it from cluster.existing.namespaces")
        elif not listed and space in spaces and not rules.owner(spaces[space]).startswith(rules.PULUMI):
            message = f"namespace {space} exists: as the stack's own, a destroy would delete everything in it"
            yield failed(CHECK, message, f"llmd-gke:cluster.existing.namespaces: [{space}]")


def _google(settings: StackSettings, seen: Mapping[str, object]) -> list[Result]:
    update = f"gcloud container clusters update {settings.cluster.gke_name} --location {settings.cluster.location}"
    results: list[Result] = []
    version = text(seen, "currentMasterVersion")
    if is_older(version, versions.gke_floor()):
        message = f"GKE {version} is older than {versions.gke_floor()}, the first with the InferencePool v1 CRD"
        results.append(failed(CHECK, message, "upgrade the control plane"))
    if not get(seen, "workloadIdentityConfig", "workloadPool"):
        fix = f"{update} --workload-pool={settings.project}.svc.id.goog"
        results.append(failed(CHECK, "pods have no identity: Workload Identity is off", fix))
    if settings.uses_storage and not get(seen, "addonsConfig", "gcsFuseCsiDriverConfig", "enabled"):
        fix = f"{update} --update-addons=GcsFuseCsiDriver=ENABLED"
        results.append(failed(CHECK, "buckets cannot be mounted: the Cloud Storage FUSE driver is off", fix))
    enforced = text(seen, "networkConfig", "datapathProvider") == "ADVANCED_DATAPATH"
    if not enforced and not get(seen, "networkPolicy", "enabled"):
        message = "nothing enforces NetworkPolicies: every pod may reach the models"
        results.append(warning(CHECK, message, f"{update} --enable-network-policy"))
    pools = {text(one, "name"): text(one, "config", "machineType") for one in each(seen, "nodePools")}
    for at, pool in zip(settings.pool_keys, settings.pools, strict=True):
        if pool.existing and pools.get(pool.name) != pool.machine_type:
            there = ", ".join(f"{one} of {machine}" for one, machine in sorted(pools.items()))
            results.append(failed(CHECK, f"{at}: there is no node pool {pool.name} of {pool.machine_type}", there))
        elif not pool.existing and pools.keys() & {one.name for one in pool.node_pools}:
            message = f"{at}: a node pool {pool.name} exists, of this stack or of others"
            results.append(warning(CHECK, message, "before the first `up`: another name, or existing: true"))
    return results
