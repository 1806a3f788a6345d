"""Resources that a destroyed cluster left in the project: firewall rules, endpoint groups, addresses, disks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from llmd_gke.settings import StackSettings
from operations.doctor.google import GoogleClient, GoogleRequestError, login

LISTS: Mapping[str, str] = {
    "firewalls": "compute.firewalls.list",
    "networkEndpointGroups": "compute.networkEndpointGroups.aggregatedList",
    "addresses": "compute.addresses.list",
    "disks": "compute.disks.aggregatedList",
}
"""Kinds of resources that GKE's controllers leave if a cluster is deleted before its Gateways
(pulumi/pulumi-kubernetes#1787), each with the method that lists it; an address is in the cluster's region."""


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
    token: object = None
    while True:
        answer = google.ask(method, project=google.project, pageToken=token, **scope)
        entries = answer.get("items")
        if isinstance(entries, dict):
            for zone in cast("Mapping[str, Mapping[str, object]]", entries).values():
                yield from cast("Sequence[Mapping[str, object]]", zone.get(kind) or [])
        else:
            yield from cast("Sequence[Mapping[str, object]]", entries or [])
        token = answer.get("nextPageToken")
        if not token:
            return


def belonging(entries: Sequence[Mapping[str, object]], settings: StackSettings, kind: str) -> list[str]:
    """Names of the entries that contain the cluster's name in name, network, target tags or description."""
    name = settings.cluster.name
    return [f"{kind} {entry.get('name')}" for entry in entries if name in json.dumps(entry)]
