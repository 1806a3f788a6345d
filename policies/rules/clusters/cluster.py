"""Clusters and their networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from llmd_gke.catalog import versions
from llmd_gke.gateways.gke import CLASS_PREFIX, PROXY_SUBNET_PURPOSE
from llmd_gke.rules import cluster, node_pools
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Unknown
from policies.rules.kinds import CLUSTER, GATEWAY, NETWORK, NODE_POOL, SUBNET
from policies.rules.rule import (
    Parameter,
    ParameterValues,
    Program,
    Rule,
    StackFinding,
    Subject,
    about,
    by_kind,
    on_inputs,
)

GATEWAY_DOC = "https://cloud.google.com/kubernetes-engine/docs/how-to/deploying-gateways"
HARDENING = "https://cloud.google.com/kubernetes-engine/docs/how-to/hardening-your-cluster"


def _version(subject: Subject, settings: ParameterValues) -> Iterator[Finding]:
    yield from cluster.version(subject.node, settings.text("floor"))


def _ai_zones(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    if subject.kind == CLUSTER or node_pools.accelerator(subject.node) is None:
        yield from cluster.ai_zones(subject.node.get("nodeLocations"), subject.node.get("location"))


def _pools_of_clusters(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    clusters = list(program.of(CLUSTER))
    names = [owner.node.get("name").text() for owner in clusters]
    for pool in program.of(NODE_POOL):
        path = (pool.node.get("cluster").text() or "").split("/")
        name, place = path[-1], path[-3] if len(path) > 2 else None
        owners = [
            owner
            for owner, its in zip(clusters, names, strict=True)
            if name and its == name and place in (None, owner.node.get("location").text())
        ]
        if pool.inline:
            autopilot = [owner for owner in clusters if owner.node.get("enableAutopilot").boolean() is True]
            owners = [owner for owner in clusters if owner.urn == pool.urn and owner not in autopilot]
        elif not owners and len(clusters) == 1 and not (name and names[0]):
            owners = clusters
        for owner in owners:
            found = node_pools.in_cluster(pool.node, owner.node)
            yield from about(pool, (replace(finding, rule="node-pool-cluster") for finding in found))


def _missing_proxies(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    subnets = [subnet.node for subnet in program.of(SUBNET) if subnet.node.get("role").text() != "BACKUP"]
    purposes = [subnet.get("purpose") for subnet in subnets]
    has_proxies = any(purpose.text() == PROXY_SUBNET_PURPOSE for purpose in purposes)
    if has_proxies or not any(program.of(NETWORK)) or any(isinstance(purpose.value, Unknown) for purpose in purposes):
        return
    for gateway in program.of(GATEWAY):
        name = gateway.spec.get("gatewayClassName").text() or ""
        if name.startswith(CLASS_PREFIX) and "global" not in name and "gxlb" not in name:
            finding = Finding(
                "proxy-subnet-missing",
                "the program creates a VPC and a regional Gateway, but no proxy-only subnet: GKE never programs "
                "the Gateway",
                fix=f"add a Subnetwork with purpose {PROXY_SUBNET_PURPOSE}, role ACTIVE and a /23 in the region",
            )
            yield StackFinding(gateway, finding)


def _is_arm(pool: Subject) -> bool:
    return cluster.is_arm(pool.node.get("nodeConfig", "machineType").text() or "")


def _ordinary_pool(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    pools = list(program.of(NODE_POOL))
    if not pools or not all(node_pools.accelerator(pool.node) is not None or _is_arm(pool) for pool in pools):
        return
    for owner in program.of(CLUSTER):
        if owner.node.get("removeDefaultNodePool").boolean() is True:
            finding = Finding(
                "ordinary-node-pool",
                "every node pool in the program has TPUs, GPUs or Arm processors, whose nodes GKE taints: GKE's system "
                "pods, KServe and the endpoint pickers cannot be scheduled",
                fix="add a small node pool without them",
            )
            unknown = any(isinstance(pool.node.get("nodeConfig", "machineType").value, Unknown) for pool in pools)
            yield StackFinding(owner, finding, "a machine type is not known yet" if unknown else "")


GATEWAY_API = Rule(
    name="cluster-gateway-api",
    title="Clusters have the Gateway API enabled from the start",
    why="GKE's Gateway needs the standard channel, HTTP load balancing and a VPC-native cluster. When it was "
    "enabled later, GatewayClasses took up to 45 minutes to appear.",
    sources=(GATEWAY_DOC,),
    kinds=(CLUSTER,),
    check_object=on_inputs(cluster.gateway_api),
    opt_out="Clusters that serve no models: set this rule to advisory.",
)

VERSION = Rule(
    name="cluster-version",
    title="Control planes are new enough to provide the InferencePool CRD",
    why=f"From {versions.gke_floor()} on GKE installs the InferencePool v1 CRD; older versions do not have it.",
    sources=("https://github.com/llm-d/llm-d/tree/main/guides/prereq/gateway-provider",),
    kinds=(CLUSTER,),
    check_object=_version,
    parameters=(Parameter("floor", versions.gke_floor(), "Minimum control-plane version"),),
)

DATAPLANE = Rule(
    name="cluster-dataplane",
    title="Clusters have one NetworkPolicy engine and no retired TPU settings",
    why="Dataplane V2 enforces NetworkPolicies itself, and GKE rejects the older add-on in addition to it. "
    "`enableTpu` and `tpuConfig` belong to the retired TPU Node product.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/concepts/dataplane-v2",),
    kinds=(CLUSTER,),
    check_object=on_inputs(cluster.dataplane),
)

WORKLOAD_IDENTITY = Rule(
    name="workload-identity",
    title="Pods have their own identities",
    why="Without Workload Identity every pod acts with the identity of its node.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/how-to/workload-identity",),
    kinds=(CLUSTER,),
    check_object=on_inputs(cluster.workload_identity),
)

AI_ZONE = Rule(
    name="ai-zone",
    title="Control planes and non-TPU nodes are not in AI zones",
    why="Zones such as us-south1-ai1b offer only accelerators.",
    sources=("https://cloud.google.com/compute/docs/regions-zones/ai-zones",),
    kinds=(CLUSTER, NODE_POOL),
    check_object=_ai_zones,
)

NODE_HARDENING = Rule(
    name="node-hardening",
    title="Nodes are shielded and run as a dedicated service account",
    why="Google's hardening guide recommends secure boot, GKE's metadata server and a least-privilege service account.",
    sources=(HARDENING,),
    kinds=(NODE_POOL, CLUSTER),
    check_object=by_kind({CLUSTER: node_pools.cluster_hardening, NODE_POOL: node_pools.node_hardening}),
    level="advisory",
    severity="medium",
)


NODE_POOL_FIELDS = Rule(
    name="node-pool-fields",
    title="Node pools and clusters have no fields that GKE refuses together",
    why="Each of the fields is valid alone: GKE refuses the pair when it creates the resource, minutes into an update, "
    "or the fields undo each other's work with every update.",
    sources=(
        "https://github.com/hashicorp/terraform-provider-google/issues/18341",
        "https://github.com/AI-Hypercomputer/xpk/issues/900",
        "https://github.com/hashicorp/terraform-provider-google/issues/844",
    ),
    kinds=(NODE_POOL, CLUSTER),
    check_object=by_kind({CLUSTER: node_pools.cluster_pairs, NODE_POOL: node_pools.pairs}),
)

NODE_POOL_CLUSTER = Rule(
    name="node-pool-cluster",
    title="Node pools fit their cluster",
    why="GKE looks for the cluster in the location of the node pool, and a release channel excludes nodes that are "
    "neither upgraded nor repaired.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/concepts/release-channels",),
    kinds=(NODE_POOL, CLUSTER),
    check_program=_pools_of_clusters,
)

PROXY_SUBNET = Rule(
    name="proxy-subnet",
    title="Proxy-only subnets have a role and are large enough",
    why="GKE's regional Gateways send requests from this subnet: there must be one active subnet of at least /26 "
    "(recommended: /23) per region and VPC.",
    sources=("https://cloud.google.com/load-balancing/docs/proxy-only-subnets",),
    kinds=(SUBNET,),
    check_object=on_inputs(cluster.proxy_subnet),
)

MISSING_PROXIES = Rule(
    name="proxy-subnet-missing",
    title="A VPC created for a regional Gateway has a proxy-only subnet",
    why="Without it GKE accepts the Gateway but never programs it. Programs that do not create their VPC are not "
    "checked.",
    sources=("https://cloud.google.com/load-balancing/docs/proxy-only-subnets", GATEWAY_DOC),
    kinds=(GATEWAY, SUBNET, NETWORK),
    check_program=_missing_proxies,
)

ORDINARY_POOL = Rule(
    name="ordinary-node-pool",
    title="A cluster has a node pool with x86 processors and without TPU or GPU",
    why="GKE taints all others: its system pods, KServe and the endpoint pickers cannot run there.",
    sources=(
        "https://cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus",
        "https://cloud.google.com/kubernetes-engine/docs/how-to/prepare-arm-workloads-for-deployment",
    ),
    kinds=(CLUSTER, NODE_POOL),
    check_program=_ordinary_pool,
)
