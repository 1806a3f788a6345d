"""Resources that a destroyed cluster left in the project: firewall rules, endpoint groups, addresses, disks.

Endpoint groups keep the network from being deleted, and GKE does not always collect them: they are deleted here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from llmd_common.kubernetes.fields import each, part
from llmd_gke.settings import StackSettings
from operations.doctor.google import GoogleClient, GoogleRequestError, MissingResource, login

LISTS: Mapping[str, str] = {
    "firewalls": "compute.firewalls.list",
    "networkEndpointGroups": "compute.networkEndpointGroups.aggregatedList",
    "addresses": "compute.addresses.list",
    "disks": "compute.disks.aggregatedList",
}
"""Kinds of resources that GKE's controllers leave if a cluster is deleted before its Gateways
(pulumi/pulumi-kubernetes#1787), each with the method that lists it; an address is in the cluster's region."""

NETWORK_IN_USE = re.compile(r"'(?:https://[^']*/)?(projects/[^/']+/global/networks/[^/']+)' is already being used by")
GKES_NAME = re.compile(r"k8s\d-")
"""Beginning of the names that GKE gives to endpoint groups (kubernetes/ingress-gce ``pkg/utils/namer``)."""
DELETE_SECONDS = 120


def delete_groups(settings: StackSettings, in_use: Sequence[str], say: Callable[[str], None]) -> list[str]:
    """Deletes GKE's endpoint groups in the networks that ``in_use``, Compute Engine's errors, says are in use; returns
    their names. Says which it could not delete. None in a network with a cluster, whose groups they may be.
    """
    deleted: list[str] = []
    try:
        google = GoogleClient(settings.project, login())
        for network in sorted({found[1] for line in in_use for found in NETWORK_IN_USE.finditer(line)}):
            if (cluster := _cluster_in(google, network)) is not None:
                say(f"cluster {cluster} is in network {network.rpartition('/')[2]}: no endpoint group is deleted")
                continue
            groups = _listed(google, LISTS["networkEndpointGroups"], "networkEndpointGroups", {})
            for group in [one for one in groups if str(one.get("network", "")).endswith(f"/{network}")]:
                name, zone = str(group.get("name")), str(group.get("zone")).rpartition("/")[2]
                if GKES_NAME.match(name) and _deleted(google, name, zone, say):
                    deleted.append(name)
    except GoogleRequestError as error:
        say(f"endpoint groups cannot be listed: {error}")
    return deleted


def _cluster_in(google: GoogleClient, network: str) -> str | None:
    answer = google.ask("container.projects.locations.clusters.list", parent=f"projects/{google.project}/locations/-")
    names = (one.get("name") for one in each(answer, "clusters") if one.get("network") == network.rpartition("/")[2])
    # A location that did not answer may have one, too.
    return next((str(name) for name in names), "of a zone that did not answer" if answer.get("missingZones") else None)


def _deleted(google: GoogleClient, name: str, zone: str, say: Callable[[str], None]) -> bool:
    try:
        operation = google.ask(
            "compute.networkEndpointGroups.delete", project=google.project, zone=zone, networkEndpointGroup=name
        )
        failure = google.wait(operation, zone, DELETE_SECONDS).get("error")
    except MissingResource:
        return False
    except GoogleRequestError as error:
        failure = error
    if failure:
        say(f"endpoint group {name} in {zone} cannot be deleted: {failure}")
    else:
        say(f"deleted endpoint group {name} in {zone}, which the cluster left")
    return not failure


def look(settings: StackSettings) -> str | None:
    """Names of remaining resources, empty for none; ``None`` without credentials or permission to list them."""
    leftovers: list[str] = []
    try:
        google = GoogleClient(settings.project, login())
        for kind, method in LISTS.items():
            scope = {"region": settings.cluster.region} if kind == "addresses" else {}
            leftovers += belonging(list(_listed(google, method, kind, scope)), settings, kind)
    except GoogleRequestError:
        return None
    return ", ".join(leftovers)


def _listed(google: GoogleClient, method: str, kind: str, scope: Mapping[str, str]) -> Iterator[Mapping[str, object]]:
    """All entries, from every page, and from every zone if the answer is grouped by zone."""
    for page in google.pages(method, project=google.project, **scope):
        yield from each(page, "items")
        for zone in part(page, "items").values():
            yield from each(zone, kind)


def belonging(entries: Sequence[Mapping[str, object]], settings: StackSettings, kind: str) -> list[str]:
    """Names of the entries that contain the cluster's name in name, network, target tags or description."""
    name = settings.cluster.name
    return [f"{kind} {entry.get('name')}" for entry in entries if name in json.dumps(entry)]
