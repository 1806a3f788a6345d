"""Rules about project, zone, cluster and network."""

from __future__ import annotations

import os
from collections.abc import Iterator

from llmd_gke.catalog import zones
from llmd_gke.gateways.gke import PROXY_SUBNET_PURPOSE
from llmd_gke.rules import addresses, egress, maintenance, models, names
from llmd_gke.rules.cluster import authorized_privately, ordinary_disk, ordinary_machine, proxy_range
from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections.cluster import ClusterSettings
from llmd_gke.settings.sections.network import ExistingNetworkSettings
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.finding_at import SettingFinding, locate

REHEARSAL_PROJECT = "rehearsal"
"""Project ID of stacks that only run on the stand-ins of ``make up``."""

CLOUD_VARIABLE = "LLMD_GKE_CLOUD"
"""Variable that ``make`` sets: the local cloud that the engine uses. If it is not set, the engine uses Google Cloud."""


def zone(settings: StackSettings) -> Iterator[SettingFinding]:
    """A stack for the stand-ins is never deployed to Google Cloud."""
    if settings.project == REHEARSAL_PROJECT and not os.environ.get(CLOUD_VARIABLE):
        finding = Finding(
            "rehearsal-only",
            "this stack is for the local stand-ins on this machine and must not be used with Google Cloud",
            allowed="make up, make preview, or plain pulumi inside `make shell`",
            fix="run `make up`; for Google Cloud use a stack with your project, such as eu4a",
        )
        yield SettingFinding("gcp:project", settings.project, finding)


def cluster(cluster: ClusterSettings) -> Iterator[SettingFinding]:
    """Checks name, endpoints, maintenance and system pool of the cluster."""
    key = "llmd-gke:cluster"
    limit = names.CLUSTER_NAME_LIMIT
    yield from locate(f"{key}.name", cluster.name, names.label(cluster.name, "cluster name", limit))
    if cluster.control_plane == "zonal" and zones.is_ai_zone(cluster.zone):
        finding = Finding(
            "ai-zone",
            f"{cluster.zone} is an AI zone: it offers accelerators, but no control planes",
            allowed="regional",
            fix="controlPlane: regional",
        )
        yield SettingFinding(f"{key}.controlPlane", cluster.control_plane, finding)
    if cluster.endpoint == "ip" and not cluster.authorized_networks:
        finding = Finding(
            "control-plane-access",
            "the control plane would be unreachable: its IP endpoint admits only authorized networks",
            allowed="at least one name with a CIDR, or endpoint: dns",
            fix=f"pulumi config set --path '{key}.authorizedNetworks.office' 203.0.113.0/24",
        )
        yield SettingFinding(f"{key}.authorizedNetworks", {}, finding, (f"{key}.authorizedNetworks",))
    if cluster.endpoint == "private" and not cluster.private_nodes:
        finding = Finding(
            "control-plane-access",
            "a control plane without a public address requires nodes without public addresses",
            allowed="privateNodes: true",
            fix=f"pulumi config set --path {key}.privateNodes true",
        )
        yield SettingFinding(f"{key}.endpoint", cluster.endpoint, finding)
    yield from _authorized(f"{key}.authorizedNetworks", cluster)
    for name, value in cluster.labels.items():
        yield from locate(f"{key}.labels.{name}", value, names.resource_label(name, value))
    yield from _system_zone(f"{key}.systemZone", cluster)
    yield from _keys(f"{key}.encryption", cluster)
    yield from _maintenance(f"{key}.maintenance", cluster)
    pool = cluster.system_pool
    yield from locate(f"{key}.systemPool.machineType", pool.machine_type, ordinary_machine(pool.machine_type))
    disk = ordinary_disk(pool.machine_type, pool.disk_type)
    yield from locate(f"{key}.systemPool.diskType", pool.disk_type, disk, f"{key}.systemPool.machineType")
    if pool.min_nodes > pool.max_nodes:
        finding = Finding(
            "node-count",
            f"minNodes {pool.min_nodes} is more than maxNodes {pool.max_nodes}",
            allowed="minNodes <= maxNodes",
            fix="swap them",
        )
        yield SettingFinding(f"{key}.systemPool.minNodes", pool.min_nodes, finding, (f"{key}.systemPool.maxNodes",))


def _authorized(key: str, cluster: ClusterSettings) -> Iterator[SettingFinding]:
    listed = cluster.authorized_networks
    for name, cidr in listed.items():
        yield from locate(f"{key}.{name}", cidr, names.cidr(cidr))
    if wide := addresses.everybody(listed.values()):
        alone = [name for name, cidr in listed.items() if addresses.everybody([cidr])]
        path, value = (f"{key}.{alone[0]}", listed[alone[0]]) if len(alone) == 1 else (key, dict(listed))
        finding = Finding(
            "control-plane-access",
            f"the control plane would be open to {', '.join(wide)}, a large part of the Internet",
            allowed=f"the ranges of your offices and runners (/{addresses.NARROWEST_V4} or narrower), or endpoint: "
            "dns, which IAM protects",
            fix=f"remove {path.rpartition('.')[2]}: endpoint: dns needs no ranges",
        )
        yield SettingFinding(path, value, finding, (key,))
    elif listed and cluster.endpoint == "dns":
        finding = Finding(
            "control-plane-access",
            "authorized networks have no effect: IAM protects the DNS endpoint, which answers every address",
            allowed="endpoint: ip or private",
            fix="pulumi config set --path llmd-gke:cluster.endpoint ip, or remove authorizedNetworks",
            severity="warning",
        )
        yield SettingFinding(key, dict(listed), finding, (key, "llmd-gke:cluster.endpoint"))
    elif cluster.endpoint == "private":
        for name, cidr in listed.items():
            if not any(names.cidr(cidr)):
                finding = authorized_privately(cidr)
                yield from locate(f"{key}.{name}", cidr, finding, "llmd-gke:cluster.endpoint")


def _system_zone(key: str, cluster: ClusterSettings) -> Iterator[SettingFinding]:
    zone = cluster.system_zone
    if zone is not None and (zones.region_of(zone) != cluster.region or zones.is_ai_zone(zone) or zone.count("-") != 2):
        finding = Finding(
            "system-zone",
            f"{zone} cannot host the non-TPU nodes of a cluster in {cluster.region}",
            allowed=f"a zone in {cluster.region} that is not an AI zone",
            fix=f"for example {cluster.region}-a, or remove it",
        )
        yield SettingFinding(key, zone, finding, ("llmd-gke:cluster.zone",))


def _keys(key: str, cluster: ClusterSettings) -> Iterator[SettingFinding]:
    keys, zone_key = cluster.encryption, "llmd-gke:cluster.zone"
    if keys.database:
        yield from locate(f"{key}.database", keys.database, names.kms_key(keys.database, (cluster.region,)), zone_key)
    if keys.disks:
        yield from locate(f"{key}.disks", keys.disks, names.kms_key(keys.disks, (cluster.region, "global")), zone_key)


def _maintenance(key: str, cluster: ClusterSettings) -> Iterator[SettingFinding]:
    times = cluster.maintenance
    if times is None:
        return
    yield from locate(f"{key}.hours", times.hours, maintenance.window(times.days, times.hours), f"{key}.days")
    for index, pause in enumerate(times.exclusions):
        findings, one = maintenance.exclusion(pause.start, pause.end, pause.scope), f"{key}.exclusions[{index}]"
        yield from locate(one, pause.model_dump(by_alias=True, exclude_none=True), findings, one)
    titles = [pause.name for pause in times.exclusions]
    yield from locate(f"{key}.exclusions", titles, maintenance.exclusions(titles), f"{key}.exclusions")


def outside(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks what model pods may reach outside the cluster."""
    egress_settings, key = settings.network.egress, "llmd-gke:network.egress"
    combined = egress.combination(
        egress_settings.mode, egress_settings.names, egress_settings.proxy is not None, egress_settings.no_proxy
    )
    yield from locate(f"{key}.mode", egress_settings.mode, combined, key)
    yield from locate(
        f"{key}.mode", egress_settings.mode, egress.control_plane(egress_settings.mode, settings.cluster.private_nodes)
    )
    for index, name in enumerate(egress_settings.names):
        yield from locate(f"{key}.names[{index}]", name, egress.name(name))
    if egress_settings.proxy is not None:
        # Its value may hold a password.
        yield from locate(f"{key}.proxy", None, egress.proxy(egress_settings.proxy))
    for index, cidr in enumerate(egress_settings.ranges):
        yield from locate(f"{key}.ranges[{index}]", cidr, egress.range_(cidr))
    for key, model in zip(settings.model_keys, settings.models, strict=True):
        arguments = f"{key}.extraArgs"
        yield from locate(arguments, list(model.extra_args), egress.remote_code(model.extra_args, egress_settings.mode))
        if settings.cluster.protect or egress.trusts_remote_code(model.extra_args):
            yield from locate(f"{key}.uri", model.uri, models.revision(model.uri))
        mounted = {"uri": model.uri, "weightsCache": model.weights_cache, "compileCache": model.compile_cache}
        for field, uri in mounted.items():
            if uri is not None:
                yield from locate(f"{key}.{field}", uri, egress.bucket(uri, egress_settings.mode))


def network(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks the ranges of the network, or the names of an existing one."""
    network, key = settings.network, "llmd-gke:network"
    usual = names.USUAL_PREFIX
    yield from locate(f"{key}.proxies", network.proxies, names.cidr(network.proxies, usual["proxies"]))
    yield from locate(f"{key}.proxies", network.proxies, proxy_range(network.proxies))
    if network.existing is not None:
        yield from _existing(settings, network.existing)
        return
    ranges = {"nodes": network.nodes, "pods": network.pods, "services": network.services}
    for name, cidr in ranges.items():
        yield from locate(f"{key}.{name}", cidr, names.cidr(cidr, usual[name]))
    if settings.gateway.is_googles:
        ranges["proxies"] = network.proxies
    yield from locate(f"{key}.nodes", network.nodes, names.node_range(network.nodes))
    yield from locate(f"{key}.pods", network.pods, names.pod_range(network.pods))
    yield from locate(key, ranges, names.disjoint(ranges), key)


def _existing(settings: StackSettings, existing: ExistingNetworkSettings) -> Iterator[SettingFinding]:
    key, network, project = "llmd-gke:network", settings.network, settings.project
    given = network.model_fields_set
    for name in ("nodes", "pods", "services"):
        if name in given:
            finding = Finding(
                "network-existing",
                f"the ranges of the existing subnet {existing.subnet} cannot be set here",
                allowed="existing.podsRange and existing.servicesRange, the names of its secondary ranges",
                fix=f"remove {name}",
            )
            yield SettingFinding(f"{key}.{name}", getattr(network, name), finding)
    if settings.gateway.is_googles and "proxies" not in given:
        finding = Finding(
            "network-existing",
            "the range of the VPC's proxy-only subnet is required: NetworkPolicies admit requests only from it",
            allowed=f"the ipCidrRange of the subnet with purpose {PROXY_SUBNET_PURPOSE} in the region",
            fix=f"gcloud compute networks subnets list --filter purpose={PROXY_SUBNET_PURPOSE} --project "
            f"{existing.host_project or project}",
        )
        yield SettingFinding(f"{key}.proxies", None, finding)
    section = f"{key}.existing"
    for name, value in (
        ("network", existing.network),
        ("subnet", existing.subnet),
        ("podsRange", existing.pods_range),
        ("servicesRange", existing.services_range),
    ):
        yield from locate(f"{section}.{name}", value, names.label(value, "name", 63))
    for name, value in (("network", existing.network), ("subnet", existing.subnet)):
        owner = names.project_of(value)
        if owner and owner != (existing.host_project or project):
            finding = Finding(
                "network-shared-vpc", f"{value} belongs to the project {owner}", fix=f"hostProject: {owner}"
            )
            needs = (f"{section}.{name}", "gcp:project")
            yield SettingFinding(f"{section}.hostProject", existing.host_project, finding, needs)
            break
    if existing.pods_range == existing.services_range:
        finding = Finding(
            "network-existing", "pods and Services need separate ranges", fix="set two different secondary ranges"
        )
        yield SettingFinding(f"{section}.servicesRange", existing.services_range, finding, (f"{section}.podsRange",))
    host = existing.host_project
    if host is None:
        return
    yield from locate(
        f"{section}.hostProject", host, names.project(host, "set the ID of the project that shares the VPC")
    )
    if host == project:
        finding = Finding("network-shared-vpc", "the VPC is in the stack's own project", fix="remove hostProject")
        yield SettingFinding(f"{section}.hostProject", host, finding, ("gcp:project",))
    for name, value in (("proxies", existing.proxies), ("nat", existing.nat)):
        if value == "create":
            finding = Finding(
                "network-shared-vpc",
                f"the program creates nothing in the host project {host}, whose network is managed elsewhere",
                allowed="existing",
                fix=f"ask the administrators of {host} to create it, and set existing",
            )
            yield SettingFinding(f"{section}.{name}", value, finding)
