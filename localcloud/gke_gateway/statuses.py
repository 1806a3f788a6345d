"""The statuses that GKE's controller writes, as pure functions of a translation.

Types, reasons and messages are those of `kubectl describe` on GKE: of a Gateway that serves, and its listeners
(pradeepgadde/blog ``_posts/2024-07-24-gcp-anthos-north-south-routing-mcg.md``), and of routes
(kubernetes-sigs/gateway-api-inference-extension#1131). Those of a refused Gateway (Programmed with reason Invalid,
GatewayHealthy with reason Error) were seen in a record of 2026-01-20 whose address is not known. Left out: the
deprecated conditions Scheduled, Ready and Detached.
"""

from __future__ import annotations

from llmd_common.kubernetes.fields import each, name, namespace, text
from localcloud.gke_gateway.conditions import Condition, merged
from localcloud.gke_gateway.listener_conditions import is_served, listener_conditions, supported_kinds
from localcloud.gke_gateway.resources.classes import CONTROLLER
from localcloud.gke_gateway.resources.objects import GATEWAY, GATEWAY_GROUP, generation
from localcloud.gke_gateway.translate import RouteBinding, Translation
from localcloud.providers.protocol.values import JsonObject, JsonValue

HEALTHY = "networking.gke.io/GatewayHealthy"


def class_status(gateway_class: JsonObject) -> JsonObject:
    """A GatewayClass is accepted at once."""
    conditions = [Condition("Accepted")]
    return {"conditions": merged(conditions, generation(gateway_class), each(gateway_class, "status", "conditions"))}


def gateway_status(translation: Translation) -> JsonObject:
    """Accepted, Programmed and GatewayHealthy, the address, and each listener.

    A rejected Gateway keeps its address: its previous configuration keeps serving.
    """
    gateway, refusal = translation.gateway, translation.refusal
    # With some listeners that are not valid a Gateway stays accepted, and says so by its reason (Gateway API).
    listeners_are_valid = all(is_served(one) for one in each(gateway, "spec", "listeners"))
    accepted = Condition("Accepted", reason="" if listeners_are_valid else "ListenersNotValid")
    conditions = [accepted, Condition("Programmed"), Condition(HEALTHY, reason="Healthy")]
    if refusal is not None:
        if refusal.of_gateway:
            conditions[0] = Condition("Accepted", status=False, reason=refusal.reason, message=refusal.message)
        conditions[1:] = [
            Condition("Programmed", status=False, reason="Invalid", message=refusal.message),
            Condition(HEALTHY, status=False, reason="Error", message=f"Gateway: Invalid : {refusal.message}"),
        ]
    addresses: list[JsonValue] = [{"type": "IPAddress", "value": translation.address}] if translation.address else []
    return {
        "addresses": addresses,
        "conditions": merged(conditions, generation(gateway), each(gateway, "status", "conditions")),
        "listeners": [_listener(listener, translation) for listener in each(gateway, "spec", "listeners")],
    }


def _listener(listener: JsonObject, translation: Translation) -> JsonObject:
    called = text(listener, "name")
    attached = {
        (namespace(one.attachment.route), name(one.attachment.route))
        for one in translation.bindings
        if called in [text(entry, "name") for entry in one.attachment.listeners]
    }
    conditions = listener_conditions(listener, translation.refusal if translation.own_refusal else None)
    listed = each(translation.gateway, "status", "listeners")
    before = next((entry for entry in listed if text(entry, "name") == called), None)
    return {
        "name": called,
        "attachedRoutes": len(attached),
        "supportedKinds": supported_kinds(listener),
        "conditions": merged(conditions, generation(translation.gateway), each(before, "conditions")),
    }


def route_parents(route: JsonObject, translations: list[Translation]) -> list[JsonValue]:
    """The whole ``status.parents`` of a route: new entries of GKE's, unchanged ones of other controllers.

    While a Gateway is frozen, routes that are not rejected themselves keep their status: GKE does not process them.
    A reference that does not resolve is reported all the same: conformance test GatewayWithAttachedRoutes.
    """
    before = each(route, "status", "parents")
    own: list[JsonObject] = []
    for translation in translations:
        for one in translation.bindings:
            if one.attachment.route is not route and one.attachment.route != route:
                continue
            keeps = one.refusal is None and one.broken is None and bool(one.attachment.listeners)
            if translation.refusal is not None and keeps:
                own += _previous(before, one.attachment.parent)
            else:
                own.append(_entry(before, one.attachment.parent, _route_conditions(one), route))
    return _in_place(before, own)


def _in_place(before: list[JsonObject], own: list[JsonObject]) -> list[JsonValue]:
    """Entries of other controllers as they are, and GKE's where they were, new ones last.

    Istio's controller puts its own entries last: if both did, each would undo the order of the other, for good.
    """
    left, parents = list(own), list[JsonValue]()
    for entry in before:
        if text(entry, "controllerName") != CONTROLLER:
            parents.append(entry)
            continue
        for new in _previous(left, entry.get("parentRef")):
            left.remove(new)
            parents.append(new)
    return [*parents, *left]


def _entry(before: list[JsonObject], parent: JsonObject, conditions: list[Condition], of: JsonObject) -> JsonObject:
    known = [condition for previous in _previous(before, parent) for condition in each(previous, "conditions")]
    return {
        "parentRef": parent,
        "controllerName": CONTROLLER,
        "conditions": merged(conditions, generation(of), known),
    }


def _previous(parents: list[JsonObject], parent: JsonValue) -> list[JsonObject]:
    """GKE's own entry for that parent, if there is one."""
    return [e for e in parents if e.get("parentRef") == parent and text(e, "controllerName") == CONTROLLER][:1]


def _route_conditions(one: RouteBinding) -> list[Condition]:
    failed = "ReconciliationFailed"
    if one.attachment.problem:
        problem, message = one.attachment.problem, one.attachment.message
        return [
            Condition("ResolvedRefs"),
            Condition("Accepted", status=False, reason=problem, message=message),
            Condition("Reconciled", status=False, reason=failed, message=message),
        ]
    if one.refusal is not None:
        # kserve/kserve#5311: Accepted False, UnsupportedValue.
        return [
            Condition("ResolvedRefs"),
            Condition("Accepted", status=False, reason=one.refusal.reason, message=one.refusal.message),
            Condition("Reconciled", status=False, reason=failed, message=one.refusal.message),
        ]
    if (broken := one.broken) is not None:
        # kubernetes-sigs/gateway-api-inference-extension#1131: Accepted stays True.
        return [
            Condition("ResolvedRefs", status=False, reason=broken.problem, message=broken.message),
            Condition("Accepted"),
            Condition("Reconciled", status=False, reason=failed, message=broken.message),
        ]
    return [Condition("ResolvedRefs"), Condition("Accepted"), Condition("Reconciled", reason="ReconciliationSucceeded")]


PLACEHOLDER = "Status"
"""Kind of the parent in the status of a pool that is new (``inferencepools.inference.networking.k8s.io``, default)."""


def pool_parents(pool: JsonObject, translations: list[Translation]) -> list[JsonValue]:
    """The whole ``status.parents`` of an InferencePool: one entry for each Gateway with a route to it.

    KServe's condition InferencePoolReady waits for Accepted of each of its Gateways (kserve ``router.go``).
    """
    # Upstream's placeholder, "no controller has looked yet", goes with the first real entry. An entry without a
    # controller's name is another controller's: Envoy AI Gateway v1.0.0 internal/controller/inference_pool.go.
    before = [one for one in each(pool, "status", "parents") if text(one, "parentRef", "kind") != PLACEHOLDER]
    own: list[JsonObject] = []
    for translation in translations:
        if not any(_reaches(one, pool) for one in translation.bindings):
            continue
        gateway = translation.gateway
        parent: JsonObject = {
            "group": GATEWAY_GROUP,
            "kind": GATEWAY,
            "namespace": namespace(gateway),
            "name": name(gateway),
        }
        if translation.refusal is not None:
            own += _previous(before, parent)
            continue
        conditions = [Condition("Accepted"), Condition("ResolvedRefs")]
        if any(_lacks_picker(one, pool) for one in translation.bindings):
            conditions[1] = Condition("ResolvedRefs", status=False, reason="InvalidExtensionRef")
        own.append(_entry(before, parent, conditions, pool))
    return _in_place(before, own)


def _reaches(one: RouteBinding, pool: JsonObject) -> bool:
    return any(reference.pool == (namespace(pool), name(pool)) for rule in one.rules for reference in rule.references)


def _lacks_picker(one: RouteBinding, pool: JsonObject) -> bool:
    return any(
        reference.pool == (namespace(pool), name(pool)) and reference.backend is None
        for rule in one.rules
        for reference in rule.references
    )


def policy_status(policy: JsonObject, *, attached: bool, conflicted: bool) -> JsonObject:
    """Attached, once what it targets is a backend of a programmed Gateway (or the Gateway); the oldest policy wins.

    Condition Attached: kubernetes-sigs/gateway-api-inference-extension#1475. Reason and wording of the other cases: no
    public source; inferred.
    """
    before = each(policy, "status", "conditions")
    if attached:
        condition = Condition("Attached")
    elif conflicted:
        condition = Condition("Attached", False, "Conflicted", "An older policy has the same target.")
    else:
        condition = Condition("Attached", False, "TargetNotFound", "No Gateway uses what the policy is for.")
    return {"conditions": merged([condition], generation(policy), before)}
