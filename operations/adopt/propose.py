"""A stack file for what a cluster has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from llmd_common.kubernetes.fields import Object, each, labels, name, namespace, text
from llmd_gke.catalog import kserve
from llmd_gke.catalog.accelerators import family_of
from llmd_gke.gateways import gke
from llmd_gke.gateways.gke import PROXY_SUBNET_PURPOSE
from operations.adopt import found
from operations.adopt.live import Live
from operations.adopt.model import TOPOLOGY, proposal
from operations.doctor.google import GoogleClient, GoogleRequestError, items, login
from operations.doctor.result import Result, failed, warning

CONTEXT = re.compile(r"gke_(?P<project>[^_]+)_(?P<location>[^_]+)_(?P<name>[^_]+)")
"""A context as ``gcloud container clusters get-credentials`` names it."""
UNKNOWN = {"project": "PROJECT", "location": "LOCATION", "name": "CLUSTER"}


@dataclass
class Stack:
    """The proposed ``config`` of a stack file, and what it lacks."""

    config: dict[str, object]
    results: list[Result] = field(default_factory=list[Result])


def stack(live: Live, context: str, title: str) -> Stack:
    """Reads what exists, and proposes the settings that use it. ``title``: the stack's name."""
    match = CONTEXT.fullmatch(context)
    place = match.groupdict() if match else dict(UNKNOWN)
    pools, zone = _pools(live)
    gateways, results = found.usable_gateways(live)
    services = _services(live)
    models = [proposal(one, pools) for one in services]
    for service, made in zip(services, models, strict=True):
        results += [warning(f"model {name(service)}", f"not carried over: {lost}", "") for lost in made.lost]
    existing: dict[str, object] = {"name": place["name"], "location": place["location"]}
    if controllers := {part.key: one.where for part, one in found.controllers(live).items() if part.key}:
        existing["controllers"] = controllers
    if spaces := sorted({namespace(one) for one in services}):
        existing["namespaces"] = spaces
    network, proxies, absent = _network(place)
    config: dict[str, object] = {
        "gcp:project": place["project"],
        "llmd-gke:cluster": {"name": title, "zone": zone or "ZONE", "existing": existing},
        "llmd-gke:network": {"existing": network, "proxies": proxies},
        "llmd-gke:tpuPools": pools,
        "llmd-gke:models": [made.settings for made in models],
    }
    if gateway := _busiest(live, gateways):
        config["llmd-gke:gateway"] = _gateway(gateway)
    for what, missing, fix in (
        ("cluster", not match, f"the context {context or 'in use'} is not gcloud's: write project, location and name"),
        ("network", bool(absent), f"Google was not asked ({absent}): write the names of VPC, subnet and ranges"),
        ("pools", not pools, "no node with TPUs runs: describe the node pool by hand, with existing: true"),
        ("models", not models, "there is no LLMInferenceService: write a model"),
    ):
        if missing:
            results.append(failed(what, "the stack file has a gap here", fix))
    return Stack(config, results)


def _services(live: Live) -> list[Object]:
    for version in (kserve.VERSION, *kserve.OLDER_VERSIONS):
        if services := live.items(f"{kserve.GROUP}/{version}", kserve.SERVICES):
            return services
    return []


def _pools(live: Live) -> tuple[list[dict[str, object]], str]:
    """The node pools of the nodes with TPUs, and the zone of most of them."""
    pools: dict[str, dict[str, object]] = {}
    zones = Counter[str]()
    for node in live.items("v1", "nodes"):
        own = labels(node)
        machine = own.get("node.kubernetes.io/instance-type", "")
        if family_of(machine) is None:
            continue
        zones[own.get("topology.kubernetes.io/zone", "")] += 1
        pool = pools.setdefault(
            own.get("cloud.google.com/gke-nodepool", "POOL"),
            {"name": own.get("cloud.google.com/gke-nodepool", "POOL"), "machineType": machine, "maxNodes": 1}
            | {"topology": own.get(TOPOLOGY, ""), "existing": True}
            | ({"capacity": "spot"} if own.get("cloud.google.com/gke-spot") == "true" else {}),
        )
        # An update needs one more than run.
        pool["maxNodes"] = cast("int", pool["maxNodes"]) + 1
    return list(pools.values()), zones.most_common(1)[0][0] if zones else ""


def _busiest(live: Live, gateways: list[Object]) -> Object | None:
    """The Gateway that most routes are attached to."""
    parents = Counter(
        (text(one, "namespace") or namespace(route), text(one, "name"))
        for route in live.items("gateway.networking.k8s.io/v1", "httproutes")
        for one in each(route, "spec", "parentRefs")
    )
    return max(gateways, key=lambda one: parents[namespace(one), name(one)], default=None)


def _gateway(gateway: Object) -> Mapping[str, object]:
    listeners = each(gateway, "spec", "listeners")
    listener = next((one for one in listeners if text(one, "protocol") == "HTTPS"), listeners[0])
    https = text(listener, "protocol") == "HTTPS"
    external = text(gateway, "spec", "gatewayClassName") == gke.REGIONAL_EXTERNAL
    return {
        "existing": {
            "name": name(gateway),
            "namespace": namespace(gateway),
            "listener": text(listener, "name"),
            "address": text(each(gateway, "status", "addresses")[0], "value"),
            **({"https": True} if https else {}),
        },
        **({"domain": text(listener, "hostname")} if text(listener, "hostname") else {}),
        "exposure": "external" if external else "internal",
        # As it is now: everyone who reaches the address may use the models.
        **({"open": True} if external else {}),
        **({"allowPlainHttp": True} if external and not https else {}),
    }


def _network(place: Mapping[str, str]) -> tuple[dict[str, str], str, str]:
    """The cluster's network and the range of its region's proxies, from Google; and why not, if it does not answer."""
    gap = {"network": "NETWORK", "subnet": "SUBNET", "podsRange": "PODS", "servicesRange": "SERVICES"}
    if place["project"] == UNKNOWN["project"]:
        return gap, "PROXIES", "the project is unknown"
    try:
        google = GoogleClient(place["project"], login())
        path = f"projects/{place['project']}/locations/{place['location']}/clusters/{place['name']}"
        cluster = google.ask("container.projects.locations.clusters.get", name=path)
        region = "-".join(place["location"].split("-")[:2])
        subnets = items(google.ask("compute.subnetworks.list", project=place["project"], region=region), "items")
    except GoogleRequestError as error:
        return gap, "PROXIES", str(error)
    network = text(cluster, "network")
    proxies = next(
        (
            text(one, "ipCidrRange")
            for one in subnets
            if one.get("purpose") == PROXY_SUBNET_PURPOSE and text(one, "network").endswith(f"/networks/{network}")
        ),
        "PROXIES",
    )
    ranges = {
        "podsRange": text(cluster, "ipAllocationPolicy", "clusterSecondaryRangeName"),
        "servicesRange": text(cluster, "ipAllocationPolicy", "servicesSecondaryRangeName"),
    }
    return {"network": network, "subnet": text(cluster, "subnetwork"), **ranges}, proxies, ""
