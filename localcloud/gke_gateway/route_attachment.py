"""Which routes attach to which listeners of a Gateway (https://gateway-api.sigs.k8s.io/reference/spec/#parentreference)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from llmd_common.kubernetes.fields import each, get, labels, name, namespace, text, texts
from localcloud.gke_gateway.listener_conditions import supported_kinds
from localcloud.gke_gateway.resources.objects import (
    GATEWAY,
    GATEWAY_GROUP,
    HTTP_ROUTE,
    NAMESPACE,
    ClusterSnapshot,
    label_selector_matches,
)
from localcloud.providers.protocol.values import JsonObject

ANY_HOST = ""
"""The hostname of a listener or route without one."""


@dataclass(frozen=True)
class Attachment:
    """One ``parentRef`` of a route. ``listeners`` admit it; ``problem`` is a reason of Accepted=False otherwise."""

    route: JsonObject
    parent: JsonObject
    listeners: tuple[JsonObject, ...]
    problem: str = ""
    message: str = ""


def attachments(gateway: JsonObject, snapshot: ClusterSnapshot) -> list[Attachment]:
    """Every reference of a route to this Gateway, oldest route first."""
    return [
        _attach(route, parent, gateway, snapshot)
        for route in snapshot.all(HTTP_ROUTE)
        for parent in each(route, "spec", "parentRefs")
        if refers_to(parent, route, gateway)
    ]


def refers_to(parent: JsonObject, route: JsonObject, gateway: JsonObject) -> bool:
    """Whether a ``parentRef`` of the route means this Gateway."""
    return (
        (text(parent, "group") or GATEWAY_GROUP) == GATEWAY_GROUP
        and (text(parent, "kind") or GATEWAY) == GATEWAY
        and text(parent, "name") == name(gateway)
        and (text(parent, "namespace") or namespace(route)) == namespace(gateway)
    )


def _attach(route: JsonObject, parent: JsonObject, gateway: JsonObject, snapshot: ClusterSnapshot) -> Attachment:
    # A port in the reference is refused (refusals.py).
    section = text(parent, "sectionName")
    candidates = [
        listener for listener in each(gateway, "spec", "listeners") if not section or text(listener, "name") == section
    ]
    if not candidates:
        return Attachment(route, parent, (), "NoMatchingParent", f'There is no listener "{section}" in the Gateway.')
    admitted = [listener for listener in candidates if admits(listener, route, gateway, snapshot)]
    if not admitted:
        return Attachment(route, parent, (), "NotAllowedByListeners", "No listener admits routes of this namespace.")
    matching = tuple(listener for listener in admitted if hostnames(listener, route))
    if not matching:
        message = "No hostname of the route is one of the listener's."
        return Attachment(route, parent, (), "NoMatchingListenerHostname", message)
    return Attachment(route, parent, matching)


def admits(listener: JsonObject, route: JsonObject, gateway: JsonObject, snapshot: ClusterSnapshot) -> bool:
    """Whether ``allowedRoutes`` takes HTTPRoutes of the route's namespace; the default is the Gateway's own."""
    if not supported_kinds(listener):
        return False
    match text(listener, "allowedRoutes", "namespaces", "from") or "Same":
        case "All":
            return True
        case "Selector":
            home = snapshot.get(NAMESPACE, "", namespace(route))
            selector = get(listener, "allowedRoutes", "namespaces", "selector")
            return home is not None and label_selector_matches(selector, labels(home))
        case _:
            return namespace(route) == namespace(gateway)


def hostnames(listener: JsonObject, route: JsonObject) -> list[str]:
    """The hostnames under which the listener serves the route; ``[ANY_HOST]`` where neither names one."""
    own, wanted = text(listener, "hostname"), texts(route, "spec", "hostnames")
    if not wanted:
        return [own or ANY_HOST]
    return [common for host in wanted for common in _common(own, host)]


def _common(listener: str, route: str) -> Iterator[str]:
    """The more specific of two hostnames if one covers the other; otherwise nothing."""
    if not listener or listener == route or _covers(listener, route):
        yield route
    elif _covers(route, listener):
        yield listener


def _covers(pattern: str, host: str) -> bool:
    return pattern.startswith("*.") and host.endswith(pattern[1:])
