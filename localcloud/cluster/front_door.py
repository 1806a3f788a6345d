"""The front door of a stack: the programs of its pods (ten minutes of building), a caller's key, and the wait for its
Envoys.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

import tenacity
from rich.console import Console

from llmd_common.kubernetes.fields import Object, conditions, each, get, text
from localcloud.cluster import kubectl
from localcloud.common.workdir import Workdir
from localcloud.product import front_door
from localcloud.product.settings import CALLER_KEYS, NAMESPACE, caller_keys
from localcloud.workflow import config
from localcloud.workflow.settings import settings_of

PROGRAMS = (
    "front-door-envoy",
    "redis-server",
    "ai-gateway-extproc",
    "ai-gateway-controller",
    "envoy-gateway",
    "ratelimit",
)
"""Programs that are installed or built for it."""

WAIT_SECONDS = 120.0
"""Time limit for the replacement of the Envoys: two pods, one after the other, with their sidecars."""


def key(workdir: Workdir, stack: str, model: str) -> str | None:
    """The key of a caller who may use that model; ``None`` if no key is needed or known.

    It is read from the copy of the stack file for the engine, in which stand-ins replace secrets.
    """
    settings = settings_of(workdir, stack)
    door = settings.front_door
    copy = workdir.stack_copy(stack)
    if door is None or not door.uses_keys or not copy.exists():
        return None
    values = cast("dict[str, object]", config.read(copy.read_text(encoding="utf-8"), str(copy)).get("config") or {})
    names = {one.name: one.model_name for one in settings.models}
    callers = [caller.name for caller in door.callers_of(names.get(model, model))]
    keys = caller_keys(values.get(f"{NAMESPACE}:{CALLER_KEYS}"), callers) or {}
    return next((one for name, one in keys.items() if one and name.partition(".")[0] in callers), None)


def wait(workdir: Workdir, stack: str, console: Console) -> None:
    """Waits until every Envoy of the stack's front door has AI Gateway's sidecar, :data:`WAIT_SECONDS` at most.

    The first Envoys start without it and answer 500. AI Gateway replaces them one by one after the first model's route
    exists (``annotateGatewayPods`` in envoyproxy/ai-gateway ``internal/controller/gateway.go`` 1.0.0), so an answer of
    one Envoy says nothing about the other; if all models are stopped it never does, and nothing waits. Afterwards
    prints what is missing; raises nothing.
    """
    settings = settings_of(workdir, stack)
    door, models = settings.front_door, settings.models
    if door is None or all(model.stopped for model in models):
        return
    labels = ",".join(f"{name}={value}" for name, value in front_door.PROXY_LABELS.items())

    def problem() -> str:
        done = kubectl.run(workdir, "get", "pods", "-n", front_door.PROXIES_NAMESPACE, "-l", labels, "-o", "json")
        return (
            done.stderr.strip()
            if done.returncode
            else not_replaced(each(json.loads(done.stdout), "items"), door.replicas)
        )

    again = tenacity.Retrying(
        stop=tenacity.stop_after_delay(WAIT_SECONDS),
        wait=tenacity.wait_fixed(0.5),
        retry=tenacity.retry_if_result(bool),
        retry_error_callback=lambda attempt: attempt.outcome.result() if attempt.outcome else "",
    )
    if missing := again(problem):
        console.print(f"cluster: {missing}", highlight=False, soft_wrap=True, markup=False)


def not_replaced(pods: Sequence[Object], wanted: int) -> str:
    """What is missing until that many Envoys serve with the sidecar and none without; empty if nothing is."""
    serving = [
        pod
        for pod in pods
        if not get(pod, "metadata", "deletionTimestamp") and text(conditions(pod).get("Ready"), "status") == "True"
    ]
    replaced = [pod for pod in serving if _has_sidecar(pod)]
    if len(replaced) >= wanted and len(replaced) == len(serving):
        return ""
    return f"front door: {len(replaced)} of {wanted} Envoys are ready with the container {front_door.SIDECAR}"


def _has_sidecar(pod: Object) -> bool:
    containers = [*each(pod, "spec", "initContainers"), *each(pod, "spec", "containers")]
    return any(text(one, "name") == front_door.SIDECAR for one in containers)
