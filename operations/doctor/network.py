"""Checks of the VPC: names in use, parts of an existing VPC, a second NAT or proxy-only subnet, overlapping ranges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from typing import TYPE_CHECKING

from llmd_common.kubernetes.fields import Object, each, text
from llmd_gke.gateways.gke import PROXY_SUBNET_PURPOSE
from operations.doctor.context import Context
from operations.doctor.google import MissingResource
from operations.doctor.result import Result, failed, ok

if TYPE_CHECKING:
    from llmd_gke.settings.sections.network import ExistingNetworkSettings

PROXIES = PROXY_SUBNET_PURPOSE
"""Purpose of the proxy-only subnet, of which a VPC has one active one per region
(https://cloud.google.com/load-balancing/docs/proxy-only-subnets)."""


def network(context: Context) -> Iterator[Result]:
    """The VPC to be created does not exist yet, or the existing VPC has all of its parts."""
    existing = context.settings.network.existing
    if existing is None:
        yield from _own(context)
    else:
        yield from _existing(context, existing)


def _own(context: Context) -> Iterator[Result]:
    name = context.settings.cluster.name
    try:
        context.google.ask("compute.networks.get", project=context.settings.project, network=name)
    except MissingResource:
        yield ok("network", f"the name {name} is not in use")
        return
    if context.up:
        yield ok("network", f"{name} exists, and so does the stack's cluster")
    else:
        yield failed(
            "network",
            f"a VPC {name} exists, but no cluster {name}: a leftover, or not managed by this stack",
            f"delete it (gcloud compute networks delete {name}), use it (llmd-gke:network.existing), "
            "or choose another llmd-gke:cluster.name",
        )


def _existing(context: Context, existing: ExistingNetworkSettings) -> Iterator[Result]:
    region, project = context.settings.cluster.region, context.network_project
    try:
        context.google.ask("compute.networks.get", project=project, network=existing.network)
    except MissingResource:
        yield failed(
            "network",
            f"llmd-gke:network.existing.network VPC {existing.network} does not exist in {project}",
            f"gcloud compute networks list --project {project}",
        )
        return
    subnets = _of_network(context, "compute.subnetworks.list", existing.network)
    routers = _of_network(context, "compute.routers.list", existing.network)
    yield from subnet(existing, subnets, region)
    if context.settings.gateway.is_googles:
        yield from proxies(existing, subnets, region)
        if existing.proxies == "create":
            yield from overlap(context.settings.network.proxies, subnets)
    yield from nat(existing, routers, region, private=context.settings.cluster.private_nodes)


def _of_network(context: Context, method: str, name: str) -> list[Object]:
    pages = context.google.pages(method, project=context.network_project, region=context.settings.cluster.region)
    listed = (one for page in pages for one in each(page, "items"))
    return [one for one in listed if str(one.get("network")).endswith(f"/networks/{name}")]


def subnet(existing: ExistingNetworkSettings, subnets: list[Object], region: str) -> Iterator[Result]:
    """The subnet in the settings exists, with both secondary ranges."""
    named = next((one for one in subnets if one.get("name") == existing.subnet), None)
    if named is None:
        yield failed(
            "subnet",
            f"llmd-gke:network.existing.subnet {existing.subnet}: {existing.network} has these subnets in "
            f"{region}: {_names(subnets) or 'none'}",
            "use one of these, or create the subnet first",
        )
        return
    ranges = {str(one.get("rangeName")) for one in each(named, "secondaryIpRanges")}
    lacking = [name for name in (existing.pods_range, existing.services_range) if name not in ranges]
    if lacking:
        yield failed(
            "subnet",
            f"{existing.subnet} has no secondary range {', '.join(lacking)}; "
            f"it has {', '.join(sorted(ranges)) or 'none'}",
            "set llmd-gke:network.existing.podsRange and servicesRange to existing ranges, or add the ranges to "
            "the subnet",
        )
    else:
        yield ok("subnet", f"{existing.subnet} has the ranges {existing.pods_range} and {existing.services_range}")


def proxies(existing: ExistingNetworkSettings, subnets: list[Object], region: str) -> Iterator[Result]:
    """There is exactly one proxy-only subnet: the existing one, or the one to be created."""
    active = [one for one in subnets if one.get("purpose") == PROXIES and one.get("role") in (None, "ACTIVE")]
    if active and existing.proxies == "create":
        yield failed(
            "proxy-only subnet",
            f"{_names(active)} already exists, and a VPC can have only one per region",
            "set llmd-gke:network.existing.proxies to existing, and llmd-gke:network.proxies to its range",
        )
    elif not active and existing.proxies == "existing":
        yield failed(
            "proxy-only subnet",
            f"{existing.network} has none in {region}, but the gateway sends its requests from a proxy-only subnet",
            "set llmd-gke:network.existing.proxies to create",
        )
    else:
        yield ok("proxy-only subnet", f"{_names(active)} exists" if active else "none yet; the program will create it")


def nat(existing: ExistingNetworkSettings, routers: list[Object], region: str, *, private: bool) -> Iterator[Result]:
    """There is one NAT for the subnet: Google rejects a second one for the same ranges."""
    serving = [
        f"{router.get('name')}/{entry.get('name')}"
        for router in routers
        for entry in each(router, "nats")
        if _covers(entry, existing.subnet)
    ]
    if serving and existing.nat == "create":
        yield failed(
            "NAT",
            f"{', '.join(serving)} already serves {existing.subnet}, and a subnet can have only one",
            "set llmd-gke:network.existing.nat to existing",
        )
    elif not serving and existing.nat == "existing" and private:
        yield failed(
            "NAT",
            f"no NAT in {region} serves {existing.subnet}, but private nodes download images and weights through a NAT",
            "set llmd-gke:network.existing.nat to create",
        )
    else:
        yield ok(
            "NAT",
            f"{', '.join(serving)} serves {existing.subnet}" if serving else "none yet; the program will create it",
        )


def _covers(entry: Mapping[str, object], name: str) -> bool:
    if entry.get("sourceSubnetworkIpRangesToNat") != "LIST_OF_SUBNETWORKS":
        return True
    return any(str(one.get("name")).endswith(f"/subnetworks/{name}") for one in each(entry, "subnetworks"))


def overlap(range_: str, subnets: list[Object]) -> Iterator[Result]:
    """The range of the proxy-only subnet to be created is free in the VPC, according to the subnets of this region."""
    for one in subnets:
        taken = [str(one.get("ipCidrRange"))]
        taken += [str(second.get("ipCidrRange")) for second in each(one, "secondaryIpRanges")]
        for cidr in taken:
            if ip_network(cidr).overlaps(ip_network(range_)):
                yield failed(
                    "ranges",
                    f"llmd-gke:network.proxies {range_} overlaps {cidr} of subnet {one.get('name')}",
                    "choose a free range of /23 or larger",
                )
                return
    yield ok("ranges", f"{range_} overlaps no subnet of the region")


def _names(entries: list[Object]) -> str:
    return ", ".join(text(one, "name") for one in entries)
