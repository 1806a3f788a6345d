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
    listed = [live.items(f"{kserve.GROUP}/{one}", kserve.SERVICES) for one in (kserve.VERSION, *kserve.OLDER_VERSIONS)]
    services = listed[0] or listed[1]
    models = [proposal(one, pools) for one in services]
    for one in models:
        results += [warning(f"model {one.settings['name']}", f"not carried over: {lost}", "") for lost in one.lost]
    network, unasked = _network(place)
    existing = {
        "name": place["name"],
        "location": place["location"],
        "controllers": {part.key: one.where for part, one in found.controllers(live).items() if part.key},
        "namespaces": sorted({namespace(one) for one in services}),
    }
    config: dict[str, object] = {
        "gcp:project": place["project"],
        "llmd-gke:cluster": {"name": title, "zone": zone or "ZONE", "existing": existing},
        "llmd-gke:network": network,
        "llmd-gke:pools": pools,
        "llmd-gke:models": [made.settings for made in models],
    }
    if gateways:
        config["llmd-gke:gateway"] = _gateway(live, gateways)
    for what, fix in (
        (
            "cluster",
            "" if match else f"the context {context or 'in use'} is not gcloud's: write project, location, name",
        ),
        ("network", unasked and f"Google was not asked ({unasked}): write the names of VPC, subnet and ranges"),
        ("pools", "" if pools else "no node with TPUs runs: describe the node pool by hand, with existing: true"),
        ("models", "" if models else "there is no LLMInferenceService: write a model"),
    ):
        results += [failed(what, "the stack file has a gap here", fix)] if fix else []
    return Stack(config, results)


def _pools(live: Live) -> tuple[list[dict[str, object]], str]:
    """The node pools of the nodes with TPUs, and the zone of most of them."""
    nodes = [labels(one) for one in live.items("v1", "nodes")]
    nodes = [one for one in nodes if family_of(one.get("node.kubernetes.io/instance-type", ""))]
    counts = Counter(one["cloud.google.com/gke-nodepool"] for one in nodes)
    pools: dict[str, dict[str, object]] = {}
    for one in nodes:
        pool = one["cloud.google.com/gke-nodepool"]
        pools[pool] = {
            "name": pool,
            "machineType": one["node.kubernetes.io/instance-type"],
            "topology": one.get(TOPOLOGY, ""),
            "maxNodes": counts[pool] + 1,  # an update needs one more than run
            "existing": True,
            **({"capacity": "spot"} if one.get("cloud.google.com/gke-spot") == "true" else {}),
        }
    zones = Counter(one.get("topology.kubernetes.io/zone", "") for one in nodes)
    return list(pools.values()), max(zones, key=lambda zone: zones[zone], default="")


def _gateway(live: Live, gateways: list[Object]) -> Mapping[str, object]:
    """The settings for the Gateway that most routes are attached to."""
    parents = Counter(
        (text(parent, "namespace") or namespace(route), text(parent, "name"))
        for route in live.items(found.GATEWAY_API, "httproutes")
        for parent in each(route, "spec", "parentRefs")
    )
    gateway = max(gateways, key=lambda one: parents[namespace(one), name(one)])
    listeners = each(gateway, "spec", "listeners")
    listener = next((one for one in listeners if text(one, "protocol") == "HTTPS"), listeners[0])
    https = text(listener, "protocol") == "HTTPS"
    external = text(gateway, "spec", "gatewayClassName") == gke.REGIONAL_EXTERNAL
    existing = {
        "name": name(gateway),
        "namespace": namespace(gateway),
        "listener": text(listener, "name"),
        "address": text(each(gateway, "status", "addresses")[0], "value"),
        "https": https,
    }
    # As it is now: everyone who reaches the address may use the models.
    as_now: dict[str, object] = {"open": True, **({} if https else {"allowPlainHttp": True})} if external else {}
    domain = {"domain": text(listener, "hostname")} if text(listener, "hostname") else {}
    return {"existing": existing, "exposure": "external" if external else "internal", **as_now, **domain}


def _network(place: Mapping[str, str]) -> tuple[dict[str, object], str]:
    """The settings for the cluster's network, from Google; and why they have gaps, if it does not answer."""
    gap = {"existing": {"network": "NETWORK", "subnet": "SUBNET"}, "proxies": "PROXIES"}
    if place == UNKNOWN:
        return cast("dict[str, object]", gap), "the project is unknown"
    try:
        google, project = GoogleClient(place["project"], login()), place["project"]
        path = f"projects/{project}/locations/{place['location']}/clusters/{place['name']}"
        cluster = google.ask("container.projects.locations.clusters.get", name=path)
        region = "-".join(place["location"].split("-")[:2])
        subnets = items(google.ask("compute.subnetworks.list", project=project, region=region), "items")
    except GoogleRequestError as error:
        return cast("dict[str, object]", gap), str(error)
    network, ranges = text(cluster, "network"), "ipAllocationPolicy"
    subnets = [one for one in subnets if text(one, "network").endswith(f"/networks/{network}")]
    proxies = [text(one, "ipCidrRange") for one in subnets if one.get("purpose") == gke.PROXY_SUBNET_PURPOSE]
    existing = {
        "network": network,
        "subnet": text(cluster, "subnetwork"),
        "podsRange": text(cluster, ranges, "clusterSecondaryRangeName"),
        "servicesRange": text(cluster, ranges, "servicesSecondaryRangeName"),
    }
    return {"existing": existing, "proxies": (proxies or ["PROXIES"])[0]}, ""
