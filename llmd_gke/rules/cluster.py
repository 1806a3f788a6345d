"""Rules about clusters and their networks as pulumi-gcp describes them (``container.Cluster``, ``compute.Subnetwork``).

Sources: https://cloud.google.com/kubernetes-engine/docs/how-to/deploying-gateways (requirements),
https://cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network

from llmd_gke.catalog import accelerators, zones
from llmd_gke.gateways.gke import PROXY_SUBNET_PURPOSES
from llmd_gke.rules import addresses, names, versions
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input

SMALLEST_PROXY_PREFIX = 26
WIDEST_PROXY_PREFIX = 16
"""NetworkPolicies admit the range to the port of the model servers: a wider range would contain other clients, too."""
WORKLOAD_POOL = re.compile(r"[a-z0-9][-a-z0-9.:]*\.(?:svc|hub)\.id\.goog")
HYPERDISK_ONLY = frozenset({"c4", "c4a", "c4d", "n4", "n4a", "n4d"})
WITHOUT_HYPERDISK = frozenset({"e2", "n1"})
ARM = frozenset({"t2a", "c4a", "n4a"})
"""Series with Arm processors: GKE taints their nodes with ``kubernetes.io/arch=arm64:NoSchedule``, which no pod of the
platform tolerates (https://cloud.google.com/kubernetes-engine/docs/how-to/prepare-arm-workloads-for-deployment)."""


def gateway_api(cluster: Input) -> Iterator[Finding]:
    """The cluster has what GKE's Gateway needs from the start."""
    channel = cluster.get("gatewayApiConfig", "channel")
    autopilot = cluster.get("enableAutopilot").boolean() is True
    rule = "cluster-gateway-api"
    if channel.text() not in (None, "CHANNEL_STANDARD") or (channel.value is None and not autopilot):
        problem = (
            f"{channel.path} is {channel.text() or 'missing'}: the cluster has no GatewayClasses, and enabling the"
        )
        problem += " channel later took up to 45 minutes"
        yield Finding(rule, problem, "CHANNEL_STANDARD", "set gatewayApiConfig.channel: CHANNEL_STANDARD")
    if cluster.get("addonsConfig", "httpLoadBalancing", "disabled").boolean() is True:
        problem = "addonsConfig.httpLoadBalancing.disabled: GKE's Gateway controller is part of that add-on"
        yield Finding(rule, problem, "false", "keep HTTP load balancing enabled")
    if cluster.get("networkingMode").text() == "ROUTES":
        problem = "networkingMode ROUTES: the Gateway's container-native load balancing needs a VPC-native cluster"
        yield Finding(rule, problem, "VPC_NATIVE", "set networkingMode: VPC_NATIVE and ipAllocationPolicy")


def version(cluster: Input, floor: str) -> Iterator[Finding]:
    """The control plane is new enough for the InferencePool CRD. Without a version the release channel decides."""
    for key in ("minMasterVersion", "nodeVersion"):
        yield from versions.gke(cluster.get(key).text() or "", floor, key)


def dataplane(cluster: Input) -> Iterator[Finding]:
    """Dataplane V2 comes without the older NetworkPolicy add-on, and TPUs without the retired TPU-node settings."""
    if cluster.get("datapathProvider").text() == "ADVANCED_DATAPATH":
        addon = cluster.get("addonsConfig", "networkPolicyConfig", "disabled")
        for path, on in (
            ("networkPolicy.enabled", cluster.get("networkPolicy", "enabled").boolean() is True),
            ("addonsConfig.networkPolicyConfig", addon.boolean() is False),
        ):
            if on:
                problem = f"{path}: Dataplane V2 enforces NetworkPolicies itself, and GKE rejects the add-on with it"
                yield Finding("cluster-dataplane", problem, "ADVANCED_DATAPATH without the add-on", f"remove {path}")
    for key in ("enableTpu", "tpuConfig"):
        value = cluster.get(key)
        if value.present() and value.value is not False:
            problem = f"{key} belongs to the retired TPU Node product, not to TPU node pools"
            yield Finding("cluster-dataplane", problem, "no such setting", f"remove {key}")


def workload_identity(cluster: Input) -> Iterator[Finding]:
    """Pods have their own identities."""
    identity = cluster.get("workloadIdentityConfig")
    if cluster.get("enableAutopilot").boolean() is True or (identity.value is not None and not identity.present()):
        return
    pool = identity.get("workloadPool")
    if pool.value is None or (pool.text() is not None and not WORKLOAD_POOL.fullmatch(pool.text() or "")):
        yield Finding(
            "workload-identity",
            f"{pool.path} {'is missing' if pool.value is None else 'is empty'}: every pod would act with its "
            f"node's identity, which may read the project's buckets",
            "PROJECT.svc.id.goog",
            "set workloadIdentityConfig.workloadPool: PROJECT.svc.id.goog",
        )


def ai_zones(node_locations: Input, location: Input) -> Iterator[Finding]:
    """AI zones offer accelerators, but neither control planes nor non-TPU nodes."""
    for node in (location, *node_locations.each()):
        zone = node.text()
        if zone is not None and zones.is_ai_zone(zone):
            problem = f"{node.path} {zone} is an AI zone: it offers TPU hosts, but no control planes and no other nodes"
            fix = f"use the region {zones.region_of(zone)} or one of its standard zones"
            yield Finding("ai-zone", problem, "AI zones for TPU node pools only", fix)


def proxy_subnet(subnet: Input) -> Iterator[Finding]:
    """A proxy-only subnet is active and large enough for the Envoys of a region."""
    if subnet.get("purpose").text() not in PROXY_SUBNET_PURPOSES:
        return
    role = subnet.get("role")
    if role.value is None or role.text() not in (None, "ACTIVE", "BACKUP"):
        allowed = "ACTIVE, or BACKUP beside an active one that it shall replace"
        yield Finding("proxy-subnet", f"role is {role.text() or 'missing'}", allowed, "set role: ACTIVE")
    for field in ("logConfig", "secondaryIpRanges"):
        if subnet.get(field).present():
            yield Finding("proxy-subnet", f"{field}: Google rejects it here", f"no {field}", "remove it")
    cidr = subnet.get("ipCidrRange").text()
    try:
        yield from _room(f"ipCidrRange {cidr}", IPv4Network(cidr, strict=False).prefixlen if cidr else 0)
    except ValueError:
        return


def _room(what: str, prefix: int) -> Iterator[Finding]:
    if prefix > SMALLEST_PROXY_PREFIX:
        allowed = f"/{SMALLEST_PROXY_PREFIX} or larger"
        yield Finding("proxy-subnet", f"{what} is too small for the region's Envoys", allowed, "use a /23")


def proxy_range(cidr: str) -> Iterator[Finding]:
    """A proxy-only subnet is large enough (https://cloud.google.com/load-balancing/docs/proxy-only-subnets)."""
    network = names.range_of(cidr)
    prefix = network.prefixlen if network else SMALLEST_PROXY_PREFIX
    yield from _room(cidr, prefix)
    if prefix < WIDEST_PROXY_PREFIX:
        yield Finding(
            "proxy-subnet",
            f"{cidr} is too large for a proxy-only subnet: every address in it could reach the port of the model "
            f"servers",
            f"/{SMALLEST_PROXY_PREFIX} to /{WIDEST_PROXY_PREFIX}",
            "use the range of the proxy-only subnet, such as a /23",
        )


def control_plane_open(cluster: Input) -> Iterator[Finding]:
    """The control plane's IP endpoint is not open to the whole Internet."""
    networks = cluster.get("masterAuthorizedNetworksConfig")
    listed = [text for block in networks.get("cidrBlocks").each() if (text := block.get("cidrBlock").text())]
    ranges, write = f"{networks.path}.cidrBlocks", "write a range, such as 203.0.113.0/24"
    problems = [
        (f"{ranges}: {block} admits the whole Internet", "list your ranges") for block in addresses.everybody(listed)
    ]
    problems += [(f"{ranges}: {text!r} is not an address range", write) for text in addresses.unreadable(listed)]
    dns = cluster.get("controlPlaneEndpointsConfig", "dnsEndpointConfig")
    for key in ("enableK8sTokensViaDns", "enableK8sCertsViaDns"):
        if dns.get("allowExternalTraffic").boolean() is True and dns.get(key).boolean() is True:
            admits = "admits anyone who holds a token or certificate of the cluster, without IAM"
            problems.append((f"{dns.path}.{key} {admits}", f"remove {key}"))
    if networks.get("gcpPublicCidrsAccessEnabled").boolean() is True:
        admits = "admits every virtual machine on Google Cloud, including other customers' machines"
        key = "gcpPublicCidrsAccessEnabled"
        problems.append((f"{networks.path}.{key} {admits}", f"set {networks.path}.{key}: false"))
    for problem, fix in problems:
        yield Finding(
            "production-control-plane",
            problem,
            f"the ranges of your offices and runners (/{addresses.NARROWEST_V4} or narrower), or the DNS endpoint, "
            f"which IAM protects",
            fix,
        )
    by_ip = cluster.get("controlPlaneEndpointsConfig", "ipEndpointsConfig", "enabled").boolean() is not False
    private = cluster.get("privateClusterConfig", "enablePrivateEndpoint").boolean() is True
    if by_ip and not private and networks.value is None and not cluster.notes.unknown:
        yield Finding(
            "production-control-plane",
            "masterAuthorizedNetworksConfig is missing: the IP endpoint is open to the whole Internet",
            "authorized networks, a private endpoint, or only the DNS endpoint",
            "set controlPlaneEndpointsConfig.ipEndpointsConfig.enabled: false, or list authorized networks",
        )


def authorized_privately(cidr: str) -> Iterator[Finding]:
    """A range that may reach a private endpoint. Of others GKE says: ``network … is not a reserved network``."""
    if addresses.not_internal([cidr]):
        yield Finding(
            "control-plane-access",
            f"{cidr} is not inside a range of private networks: GKE rejects it for a control plane without a public "
            "address",
            allowed=", ".join(map(str, addresses.INTERNAL_V4)),
            fix="set its range in your VPC or behind its VPN, or endpoint: dns (the DNS endpoint), which IAM protects",
        )


def private_endpoint(cluster: Input) -> Iterator[Finding]:
    """A control plane without a public address admits private ranges only."""
    if cluster.get("privateClusterConfig", "enablePrivateEndpoint").boolean() is True:
        for block in cluster.get("masterAuthorizedNetworksConfig", "cidrBlocks").each():
            yield from authorized_privately(block.get("cidrBlock").text() or "")


def private_nodes(cluster: Input) -> Iterator[Finding]:
    """Nodes have no public addresses."""
    if cluster.get("privateClusterConfig", "enablePrivateNodes").boolean() is not True and not cluster.notes.unknown:
        yield Finding(
            "production-private-nodes",
            "privateClusterConfig.enablePrivateNodes is not true: nodes get public IP addresses",
            "true",
            "set privateClusterConfig.enablePrivateNodes: true and give the network a NAT",
        )


def private_pool(pool: Input) -> Iterator[Finding]:
    """Nodes of a pool have no public addresses. The default is the cluster's setting."""
    if pool.get("networkConfig", "enablePrivateNodes").boolean() is False:
        yield Finding(
            "production-private-nodes",
            "networkConfig.enablePrivateNodes of the pool is false: its nodes get public IP addresses, whatever "
            "the cluster's setting is",
            "true",
            "leave networkConfig.enablePrivateNodes out or set it to true",
        )


def is_arm(machine_type: str) -> bool:
    """Whether a machine type has Arm processors."""
    return machine_type.partition("-")[0] in ARM


def ordinary_machine(machine_type: str) -> Iterator[Finding]:
    """GKE's own pods, controllers and endpoint pickers run on the system pool: no accelerators, no Arm processors."""
    if is_arm(machine_type):
        problem = f"{machine_type} has Arm processors: GKE taints its nodes, and controllers stay Pending"
        yield Finding("system-pool", problem, "a machine type with x86 processors", "for example e2-standard-4")
    elif accelerators.family_of(machine_type) and (kind := accelerators.accelerator_of(machine_type)) is not None:
        problem = (
            f"{machine_type} is a {kind.name} host: system pods, controllers and endpoint pickers cannot run there"
        )
        yield Finding("system-pool", problem, "a machine type without TPU or GPU", "for example e2-standard-4")


def ordinary_disk(machine_type: str, disk_type: str) -> Iterator[Finding]:
    """The system pool's boot disk attaches to its machines (hashicorp/terraform-provider-google#19890).

    https://cloud.google.com/compute/docs/disks/hyperdisks: series of the fourth generation support only
    Hyperdisk, e2 and n1 do not support it.
    """
    series = machine_type.split("-")[0]
    hyperdisk = disk_type.startswith("hyperdisk")
    if (series in HYPERDISK_ONLY and not hyperdisk) or (series in WITHOUT_HYPERDISK and hyperdisk):
        suitable = accelerators.PD_BALANCED if hyperdisk else accelerators.HYPERDISK_BALANCED
        problem = f"disk type {disk_type} cannot be attached to {machine_type}"
        yield Finding("system-pool", problem, suitable, f"set diskType to {suitable}")


def deletion_protection(cluster: Input) -> Iterator[Finding]:
    """The provider rejects the deletion of the cluster. The default is true."""
    if cluster.get("deletionProtection").boolean() is False:
        fix = "leave deletionProtection out or set it to true"
        yield Finding("production-protect", "deletionProtection is false", "true", fix)
