"""The status of a listener, and whether it is served at all.

What makes a listener invalid, and with which reasons: https://gateway-api.sigs.k8s.io/reference/spec/#listenerconditionreason.
GKE passes the conformance tests of it (``REPORTS`` in ``refusals.py``).
"""

from __future__ import annotations

from llmd_common.kubernetes.fields import each, text
from localcloud.gke_gateway.conditions import Condition
from localcloud.gke_gateway.refusals import UNRESOLVED, Refusal
from localcloud.gke_gateway.resources.objects import GATEWAY_GROUP, HTTP_ROUTE
from localcloud.providers.protocol.values import JsonObject, JsonValue

PROTOCOLS = ("HTTP", "HTTPS")
"""Protocols of a listener that GKE's Gateways serve.

https://docs.cloud.google.com/kubernetes-engine/docs/how-to/gatewayclass-capabilities
"""


def is_served(listener: JsonObject) -> bool:
    """Whether the listener's protocol is one that is served."""
    return text(listener, "protocol") in PROTOCOLS


def supported_kinds(listener: JsonObject) -> list[JsonValue]:
    """``supportedKinds``: what may be attached, out of what the listener allows."""
    wanted = _kinds(listener)
    served = is_served(listener) and (not wanted or (GATEWAY_GROUP, HTTP_ROUTE) in wanted)
    return [{"group": GATEWAY_GROUP, "kind": HTTP_ROUTE}] if served else []


def _kinds(listener: JsonObject) -> list[tuple[str, str]]:
    return [
        (text(entry, "group") or GATEWAY_GROUP, text(entry, "kind"))
        for entry in each(listener, "allowedRoutes", "kinds")
    ]


def listener_conditions(listener: JsonObject, refusal: Refusal | None) -> list[Condition]:
    """ResolvedRefs, Accepted and Programmed. ``refusal``: why its Gateway itself is rejected."""
    programmed = Condition("Programmed")
    if not is_served(listener):
        protocol = f'Protocol "{text(listener, "protocol")}" is not supported.'
        return [
            Condition("ResolvedRefs"),
            Condition("Accepted", status=False, reason="UnsupportedProtocol", message=protocol),
            Condition("Programmed", status=False, reason="Invalid", message=protocol),
        ]
    resolved = Condition("ResolvedRefs")
    if unknown := [kind for group, kind in _kinds(listener) if (group, kind) != (GATEWAY_GROUP, HTTP_ROUTE)]:
        message = f"Routes of kind {', '.join(unknown)} are not supported."
        resolved = Condition("ResolvedRefs", status=False, reason="InvalidRouteKinds", message=message)
        if not supported_kinds(listener):
            programmed = Condition("Programmed", status=False, reason="Invalid", message=message)
    if refusal is None:
        return [resolved, Condition("Accepted"), programmed]
    programmed = Condition("Programmed", status=False, reason="Invalid", message=refusal.message)
    rejected = Condition("Accepted", status=False, reason=refusal.reason, message=refusal.message)
    if refusal.reason in UNRESOLVED:
        return [
            Condition("ResolvedRefs", status=False, reason=refusal.reason, message=refusal.message),
            Condition("Accepted"),
            programmed,
        ]
    return [resolved, Condition("Accepted") if refusal.of_gateway else rejected, programmed]
