"""The edge: the Gateway, the models' routes, the policies on their backends and the InferencePools."""

from __future__ import annotations

from collections.abc import Mapping

from llmd_gke.catalog import kserve
from llmd_gke.manifests import naming
from localcloud.kubernetes.fields import Object, conditions, each, name, namespace, number, text
from operations.status.explanations import GATEWAY, find
from operations.status.objects import Line, Snapshot, State, of, short


def lines(snapshot: Snapshot, address: str, stack: str) -> list[Line]:
    """The Gateway's line. ``address``: the address in the stack's outputs."""
    gateway = of(snapshot.gateways, naming.GATEWAY_NAMESPACE, naming.GATEWAY_NAME)
    if gateway is None:
        if "gateways" in snapshot.unreadable:
            return []
        fix = f"pulumi up --stack {stack} --policy-pack policies"
        return [Line("gateway", State.BAD, "the Gateway inference-gateway/inference-gateway does not exist", fix)]
    problems = _problems("gateway", conditions(gateway), gateway, stack, ("Accepted", "Programmed"))
    for listener in each(gateway, "status", "listeners"):
        subject = f"gateway: listener {text(listener, 'name')}"
        problems += _problems(subject, _by_type(listener), gateway, stack, ("Accepted", "ResolvedRefs", "Programmed"))
    if problems:
        return problems
    held = [text(one, "value") for one in each(gateway, "status", "addresses")]
    routes = sum(number(listener, "attachedRoutes") or 0 for listener in each(gateway, "status", "listeners"))
    if address and address not in held:
        message = f"programmed at {', '.join(held) or 'no address'}, but the outputs have {address}"
        return [Line("gateway", State.BAD, message, f"pulumi refresh --stack {stack}")]
    if not routes:
        return [Line("gateway", State.BUSY, f"programmed at {', '.join(held)}, no route attached")]
    return [Line("gateway", State.GOOD, f"programmed at {', '.join(held)}, {routes} route(s) attached")]


def _by_type(value: Object) -> dict[str, Object]:
    return {text(one, "type"): one for one in each(value, "conditions")}


def model_lines(snapshot: Snapshot, where: str, model: str, stack: str) -> list[Line]:
    """Route, policies and pool of one model."""
    return [
        *_route(snapshot, where, model, stack),
        *_policies(snapshot, where, model, stack),
        *_pool(snapshot, where, model, stack),
    ]


def _route(snapshot: Snapshot, where: str, model: str, stack: str) -> list[Line]:
    subject = f"{model}: route"
    route = of(snapshot.routes, where, naming.route(model))
    if route is None:
        if "routes" in snapshot.unreadable:
            return []
        message = (
            f"HTTPRoute {where}/{naming.route(model)} does not exist: without it KServe creates neither pool "
            "nor endpoint picker"
        )
        return [Line(subject, State.BAD, message, f"pulumi up --stack {stack} --policy-pack policies")]
    parents = each(route, "status", "parents")
    if not parents:
        return [Line(subject, State.BUSY, "GKE's gateway has not processed it yet")]
    lines: list[Line] = []
    for parent in parents:
        lines += _problems(subject, _by_type(parent), route, stack, ("Accepted", "ResolvedRefs", "Reconciled"))
    return lines or [Line(subject, State.GOOD, "accepted, its backends are resolved")]


def _policies(snapshot: Snapshot, where: str, model: str, stack: str) -> list[Line]:
    lines: list[Line] = []
    there = 0
    for label, kind, policies in (
        ("health check", "health_policies", snapshot.health_policies),
        ("backend timeout", "backend_policies", snapshot.backend_policies),
    ):
        if kind in snapshot.unreadable:
            continue
        for target in (kserve.inference_pool(model), kserve.workload_service(model)):
            policy = next(
                (
                    one
                    for one in policies
                    if namespace(one) == where and text(one, "spec", "targetRef", "name") == target
                ),
                None,
            )
            subject = f"{model}: {label} of {target}"
            if policy is None:
                fix = f"pulumi up --stack {stack} --policy-pack policies"
                lines.append(Line(subject, State.BAD, "no policy: GKE's defaults apply (path /, 30 s)", fix))
                continue
            there += 1
            lines += _problems(subject, conditions(policy), policy, stack, ("Attached",))
    if lines or not there:
        return lines
    return [Line(f"{model}: policies", State.GOOD, f"{there} attached: health checks and backend timeouts")]


def _pool(snapshot: Snapshot, where: str, model: str, stack: str) -> list[Line]:
    subject = f"{model}: pool"
    pool = of(snapshot.pools, where, kserve.inference_pool(model))
    if pool is None:
        return [] if "pools" in snapshot.unreadable else [Line(subject, State.BUSY, "KServe has not created it yet")]
    parents = each(pool, "status", "parents")
    if not parents:
        return [Line(subject, State.BUSY, "GKE's gateway has not processed it yet")]
    lines: list[Line] = []
    for parent in parents:
        lines += _problems(subject, _by_type(parent), pool, stack, ("Accepted", "ResolvedRefs"))
    return lines or [Line(subject, State.GOOD, "accepted")]


def _problems(
    subject: str, by_type: Mapping[str, Object], owner: Object, stack: str, wanted: tuple[str, ...]
) -> list[Line]:
    """A line for each wanted condition that is not True."""
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
            lines.append(
                Line(
                    subject,
                    explanation.state,
                    f"{explanation.text} [{state_text}{detail}]",
                    explanation.fix.format(**replaced),
                )
            )
    return lines
