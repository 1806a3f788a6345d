"""``pulumi.com/waitFor``: read as the provider reads it, answered at once, unless a fault or Google's file says no."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

from localcloud.google_api.rules import capacity, nodepools
from localcloud.product import accelerators, kserve
from localcloud.providers.kubernetes.objects import ClusterObjects
from localcloud.providers.protocol.faults import Faults
from localcloud.providers.protocol.rules import ProviderRefusal
from localcloud.providers.protocol.values import JsonObject, JsonValue, dig, number, objects, text

WAIT_FOR = "pulumi.com/waitFor"
SKIP = "pulumi.com/skipAwait"
SERVICE_CONFIGS = tuple(
    f"{kserve.GROUP}/{version}/{kserve.CONFIG}" for version in (kserve.VERSION, *kserve.OLDER_VERSIONS)
)

DEFAULT_TIMEOUT_SECONDS = 600
"""Default time limit of a wait (``await/await.go`` Creation)."""

_CONDITION = re.compile(r"condition=[A-Za-z][A-Za-z0-9./-]*(=[A-Za-z]+)?")
_JSONPATH = re.compile(r"jsonpath=\{.+\}(=.+)?", re.DOTALL)  # jsonpath/jsonpath.go Parse: no shell quotes


def expressions(inputs: JsonObject) -> list[str]:
    """The expressions to wait for. Raises :class:`ProviderRefusal` for an annotation that the provider cannot read.

    ``metadata/overrides.go`` ReadyCondition: ``condition=…``, ``jsonpath=…`` or a JSON array of such.
    """
    if text(inputs, "metadata", "annotations", SKIP) == "true":
        return []
    value = text(inputs, "metadata", "annotations", WAIT_FOR)
    if not value:
        return []
    try:
        parsed: object = json.loads(value)
    except json.JSONDecodeError:
        parsed = value
    wanted = [str(item) for item in cast("list[object]", parsed)] if isinstance(parsed, list) else [value]
    if not wanted:
        raise ProviderRefusal("at least one condition must be specified")
    for expression in wanted:
        if not (_CONDITION.fullmatch(expression) or _JSONPATH.fullmatch(expression)):
            raise ProviderRefusal(f'expected a "jsonpath=" or "condition=" prefix, got {expression!r}')
    return wanted


def conditions(wanted: list[str]) -> Iterator[JsonObject]:
    """The status conditions that an answered wait implies."""
    for expression in wanted:
        if expression.startswith("condition="):
            _, sort, *status = expression.split("=")
            yield {"type": sort, "status": status[0] if status else "True", "reason": "Rehearsed"}


def hosts_wanted(kind: str, inputs: JsonObject, cluster: ClusterObjects) -> int:
    """Hosts with accelerators that a service needs: one for each replica, 0 for what asks for no chips."""
    if kind != kserve.SERVICE:
        return 0
    namespace = text(inputs, "metadata", "namespace") or "default"
    parts: list[JsonValue] = [inputs.get("spec")]
    for reference in objects(inputs, "spec", "baseRefs"):
        parts += [cluster.get(key, f"{namespace}/{text(reference, 'name')}") for key in SERVICE_CONFIGS]
    written = json.dumps(parts)
    asks = any(resource in written for resource in accelerators.RESOURCES)
    replicas = number(inputs, "spec", "replicas")
    return (1 if replicas is None else replicas) if asks else 0


def never_ready_reason(kind: str, wanted: int, had: int, google: JsonObject, faults: Faults) -> str:
    """Why the object will never be ready, or ``""``.

    ``wanted`` hosts are asked for and ``had`` are its own already; ``google`` is the cluster's part of Google's file.
    """
    if kind in faults.listed("neverReady"):
        return "fault injected: this kind never gets ready"
    return _no_hosts(wanted, google, faults) if wanted > had else ""


def _no_hosts(wanted: int, google: JsonObject, faults: Faults) -> str:
    """The reason why the cluster autoscaler finds no hosts, or ``""``: running hosts, capacity and quota count.

    Texts of the events: https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-autoscaler-visibility
    (scale.up.error.out.of.resources, scale.up.error.quota.exceeded).
    """
    pools = [
        p
        for p in objects(google, "pools")
        if capacity.chips_of(text(p, "inputs", "nodeConfig", "machineType"), _inputs(p))
    ]
    if wanted <= sum(number(pool, "nodes") or 0 for pool in pools):
        return ""
    if not pools:
        resources, kinds = (
            ", ".join(accelerators.RESOURCES),
            " or ".join(kind.name for kind in accelerators.ACCELERATORS),
        )
        return f"FailedScheduling: Insufficient {resources}; NotTriggerScaleUp: no {kinds} node pool in this cluster"
    short_of, reasons = faults.listed("stockout"), list[str]()
    for pool in pools:
        name, machine = text(pool, "inputs", "name"), text(pool, "inputs", "nodeConfig", "machineType")
        zones = nodepools.pool_zones(_inputs(pool), google, text(google, "location"))
        if not set(zones) - short_of:
            reasons.append(f"{name} in {', '.join(zones)}: GCE out of resources (GCE_STOCKOUT)")
        elif wanted * capacity.chips_of(machine, _inputs(pool)) > capacity.quota_limit(_inputs(pool), faults):
            reasons.append(f"{name} in {', '.join(zones)}: GCE quota exceeded ({capacity.quota_name(_inputs(pool))})")
        else:
            return ""
    return f"FailedScaleUp: Node scale up in node pool(s) {'; '.join(reasons)}. Pod is at risk of not being scheduled."


def _inputs(record: JsonObject) -> JsonObject:
    inputs = dig(record, "inputs")
    return inputs if isinstance(inputs, dict) else {}
