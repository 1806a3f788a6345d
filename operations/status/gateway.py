"""The edge: the Gateway, the models' routes, the policies on their backends and the InferencePools.

With a front door a model has a route there, and one at the load balancer only while ``keepPaths`` is set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llmd_common.kubernetes.fields import Object, conditions, each, name, namespace, number, text
from llmd_gke.catalog import kserve
from llmd_gke.manifests import gateway as manifests
from llmd_gke.manifests import naming
from llmd_gke.settings import FrontDoorSettings, GatewaySettings
from operations.printing import short
from operations.status.explanations import GATEWAY, find
from operations.status.objects import Line, Snapshot, State, of


def lines(snapshot: Snapshot, address: str, stack: str, settings: GatewaySettings | None = None) -> list[Line]:
    """The Gateway's line. ``address``: the address in the stack's outputs. ``settings``: the stack's (default: those of
    the program's own Gateway).
    """
    place = manifests.place(settings or GatewaySettings())
    gateway = of(snapshot.gateways, str(place["namespace"]), str(place["name"]))
    if gateway is None:
        if "gateways" in snapshot.unreadable:
            return []
        fix = f"pulumi up --stack {stack} --policy-pack policies"
        return [Line("gateway", State.BAD, f"the Gateway {place['namespace']}/{place['name']} does not exist", fix)]
    if problems := gateway_problems("gateway", gateway, stack):
        return problems
    held = [text(one, "value") for one in each(gateway, "status", "addresses")]
    routes = sum(number(listener, "attachedRoutes") or 0 for listener in each(gateway, "status", "listeners"))
    if address and address not in held:
        message = f"programmed at {', '.join(held) or 'no address'}, but the outputs have {address}"
        return [Line("gateway", State.BAD, message, f"pulumi refresh --stack {stack}")]
    if not routes:
        return [Line("gateway", State.BUSY, f"programmed at {', '.join(held)}, no route attached")]
    return [Line("gateway", State.GOOD, f"programmed at {', '.join(held)}, {routes} route(s) attached")]


def gateway_problems(subject: str, gateway: Object, stack: str) -> list[Line]:
    """A line for each condition of a Gateway and of its listeners that keeps it from serving."""
    problems = _problems(subject, conditions(gateway), gateway, stack, ("Accepted", "Programmed"))
    for listener in each(gateway, "status", "listeners"):
        own = f"{subject}: listener {text(listener, 'name')}"
        problems += _problems(own, _by_type(listener), gateway, stack, ("Accepted", "ResolvedRefs", "Programmed"))
    return problems


def _by_type(value: Object) -> dict[str, Object]:
    return {text(one, "type"): one for one in each(value, "conditions")}


def model_lines(
    snapshot: Snapshot,
    where: str,
    model: str,
    stack: str,
    door: FrontDoorSettings | None = None,
    *,
    policies: bool = True,
) -> list[Line]:
    """Routes, policies and pool of one model. ``policies``: whether the Gateway is GKE's, which needs some."""
    lines: list[Line] = []
    if door is not None:
        called = naming.door_route(model)
        absent = (
            f"HTTPRoute {where}/{called} does not exist: AI Gateway creates it from the AIGatewayRoute of that name",
            f"kubectl -n {where} describe aigatewayroute {called}",
        )
        subject = f"{model}: route of the front door"
        lines += route_lines(snapshot, subject, where, called=called, stack=stack, absent=absent)
    if door is None or door.keep_paths:
        missing = f"HTTPRoute {where}/{naming.route(model)} does not exist"
        if door is None:
            missing += ": without it KServe creates neither pool nor endpoint picker"
        absent = missing, f"pulumi up --stack {stack} --policy-pack policies"
        lines += route_lines(snapshot, f"{model}: route", where, called=naming.route(model), stack=stack, absent=absent)
        targets = (kserve.inference_pool(model), kserve.workload_service(model)) if policies else ()
        lines += policy_lines(snapshot, model, where, targets, stack)
    return [*lines, *_pool(snapshot, where, model, stack=stack)]


def route_lines(
    snapshot: Snapshot, subject: str, where: str, *, called: str, stack: str, absent: tuple[str, str]
) -> list[Line]:
    """A route's conditions. ``absent``: text and fix if it does not exist."""
    route = of(snapshot.routes, where, called)
    if route is None:
        if "routes" in snapshot.unreadable:
            return []
        return [Line(subject, State.BAD, *absent)]
    wanted = ("Accepted", "ResolvedRefs", "Reconciled")
    return _of_parents(subject, route, stack, wanted, "accepted, its backends are resolved")


def policy_lines(snapshot: Snapshot, subject: str, where: str, targets: Sequence[str], stack: str) -> list[Line]:
    """Whether each target has a health check and a backend timeout in force at the load balancer."""
    lines: list[Line] = []
    there = 0
    for label, kind, policies in (
        ("health check", "health_policies", snapshot.health_policies),
        ("backend timeout", "backend_policies", snapshot.backend_policies),
    ):
        if kind in snapshot.unreadable:
            continue
        for target in targets:
            mine = (one for one in policies if namespace(one) == where)
            policy = next((one for one in mine if text(one, "spec", "targetRef", "name") == target), None)
            called = f"{subject}: {label} of {target}"
            if policy is None:
                fix = f"pulumi up --stack {stack} --policy-pack policies"
                lines.append(Line(called, State.BAD, "no policy: GKE's defaults apply (path /, 30 s)", fix))
                continue
            there += 1
            lines += _problems(called, conditions(policy), policy, stack, ("Attached",))
    if lines or not there:
        return lines
    return [Line(f"{subject}: policies", State.GOOD, f"{there} attached: health checks and backend timeouts")]


def _pool(snapshot: Snapshot, where: str, model: str, stack: str) -> list[Line]:
    subject = f"{model}: pool"
    pool = of(snapshot.pools, where, kserve.inference_pool(model))
    if pool is None:
        return [] if "pools" in snapshot.unreadable else [Line(subject, State.BUSY, "KServe has not created it yet")]
    return _of_parents(subject, pool, stack, ("Accepted", "ResolvedRefs"), "accepted")


def _of_parents(subject: str, owner: Object, stack: str, wanted: tuple[str, ...], good: str) -> list[Line]:
    """What the gateways of a route or pool say about it."""
    parents = each(owner, "status", "parents")
    if not parents:
        return [Line(subject, State.BUSY, "its gateway has not processed it yet")]
    lines = [line for parent in parents for line in _problems(subject, _by_type(parent), owner, stack, wanted)]
    return lines or [Line(subject, State.GOOD, good)]


def _problems(
    subject: str, by_type: Mapping[str, Object], owner: Object, stack: str, wanted: tuple[str, ...]
) -> list[Line]:
    lines: list[Line] = []
    replaced = {"stack": stack, "namespace": namespace(owner), "name": name(owner)}
    for kind in wanted:
        condition = by_type.get(kind)
        if text(condition, "status") == "True":
            continue
        # A pool's parent need not have ResolvedRefs, a listener need not have Accepted.
        if condition is None and kind not in ("Programmed", "Attached"):
            continue
        reason, message = text(condition, "reason"), text(condition, "message")
        explanation = find(GATEWAY, reason, message, kind=kind)
        state_text = f"{kind} is {text(condition, 'status') or 'not set'}" + (f" ({reason})" if reason else "")
        if explanation is None:
            lines.append(Line(subject, State.BUSY, f"{state_text}: {short(message) or 'no reason given'}"))
        else:
            detail = f": {short(message, 160)}" if message else ""
            said = f"{explanation.text} [{state_text}{detail}]"
            lines.append(Line(subject, explanation.state, said, explanation.fix.format(**replaced)))
    return lines
