"""Address ranges of clusters, and the one proxy-only subnet of a region."""

from __future__ import annotations

from collections.abc import Iterator

from llmd_gke.gateways.gke import PROXY_SUBNET_PURPOSES
from llmd_gke.rules import cluster
from llmd_gke.rules.finding import Finding
from policies.rules.kinds import CLUSTER, SUBNET
from policies.rules.rule import ParameterValues, Program, Rule, StackFinding, Subject, on_inputs

PODS, SERVICES = ("clusterSecondaryRangeName", "servicesSecondaryRangeName")


def _ranges(subject: Subject, _settings: ParameterValues) -> Iterator[Finding]:
    policy = subject.node.get("ipAllocationPolicy")
    services = policy.get(SERVICES).text()
    for pods in (policy.get(PODS), *policy.get("additionalPodRangesConfig", "podRangeNames").each()):
        if services is not None and pods.text() == services:
            yield Finding(
                "cluster-ranges",
                f"{pods.path}: pods and Services have the same secondary range {services}: GKE rejects the cluster",
                allowed="two secondary ranges",
                fix=f"name another range in {SERVICES}",
            )


def _one_active(program: Program, _settings: ParameterValues) -> Iterator[StackFinding]:
    proxies = [one for one in program.of(SUBNET) if one.node.get("purpose").text() in PROXY_SUBNET_PURPOSES]
    active = [one for one in proxies if one.node.get("role").text() != "BACKUP"]
    seen: dict[tuple[bool, str, str], Subject] = {}
    # A program with one subnet has nothing to compare: in a first preview its network is not known yet.
    for subnet in active if len(active) > 1 else ():
        purpose = subnet.node.get("purpose").text() == PROXY_SUBNET_PURPOSES[1]
        network, region = subnet.node.get("network").text(), subnet.node.get("region").text()
        if network is None or region is None:
            continue
        first = seen.setdefault((purpose, network.rsplit("/", 1)[-1], region), subnet)
        if first is not subnet:
            finding = Finding(
                "one-proxy-subnet",
                f"{first.label} is an active proxy-only subnet of the same network and region: Google rejects a second",
                allowed="one active subnet of a purpose for each network and region",
                fix="remove one",
            )
            yield StackFinding(subnet, finding)


RANGES = Rule(
    name="cluster-ranges",
    title="Pods and Services of a cluster have ranges of their own",
    why="GKE rejects a cluster whose pods and Services share a secondary range.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/concepts/alias-ips",),
    kinds=(CLUSTER,),
    check_object=_ranges,
)

PRIVATE = Rule(
    name="control-plane-access",
    title="A private control plane admits private ranges only",
    why="GKE rejects authorized networks that are not private ranges for a cluster without a public endpoint.",
    sources=("https://cloud.google.com/kubernetes-engine/docs/how-to/authorized-networks",),
    kinds=(CLUSTER,),
    check_object=on_inputs(cluster.private_endpoint),
)

ONE_ACTIVE = Rule(
    name="one-proxy-subnet",
    title="A region of a network has one active proxy-only subnet",
    why="Google rejects a second active proxy-only subnet of the same purpose in a region of a VPC.",
    sources=("https://cloud.google.com/load-balancing/docs/proxy-only-subnets",),
    kinds=(SUBNET,),
    check_program=_one_active,
)
