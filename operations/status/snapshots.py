"""Takes snapshots of a stack: outputs, cluster and test requests, once or repeatedly."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime

from operations import outputs
from operations.doctor.emulator import emulated, may_ask
from operations.exits import SetUpFailed, Stale, Unreachable
from operations.options import Output
from operations.outputs import Outputs
from operations.printing import show
from operations.progress import working
from operations.status import alerts, backend_health, front_door, model_probe, node_pools
from operations.status.gather import ClusterApi, SignedOut
from operations.status.objects import Line, Snapshot, State
from operations.status.screen import ScreenSection, as_json, rendered, sections
from operations.target import Target


def evidence(target: Target) -> tuple[dict[str, object], Snapshot | None]:
    """One snapshot as plain data, and the cluster's objects (``None`` if it does not answer), for other commands.

    Raises ``NotUp`` or ``SetUpFailed``.
    """

    async def both() -> tuple[dict[str, object], Snapshot | None]:
        first = await _first(target, ask=True)
        try:
            cluster = await ClusterApi.connect(outputs.kubeconfig(target), front_door.namespaces(target.settings))
            snapshot = await cluster.snapshot()
        except (SetUpFailed, Unreachable, SignedOut):
            snapshot = None
        return as_json(target.stack, target.cloud.value, first), snapshot

    return asyncio.run(both())


async def looks(target: Target, *, ask: bool) -> AsyncGenerator[list[ScreenSection]]:
    """Snapshot after snapshot, over one connection to the cluster. ``ask``: also request a token from each model."""
    values = await asyncio.to_thread(outputs.read, target)
    kubeconfig = await asyncio.to_thread(outputs.kubeconfig, target)
    settings = target.settings
    running = {model.name for model in settings.models if model.serves_at(datetime.now(UTC))}
    gateway = settings.gateway.implementation
    endpoints = [replace(endpoint, gateway=gateway) for endpoint in values.models if endpoint.name in running]
    cluster: ClusterApi | None = None
    while True:
        asked = asyncio.create_task(model_probe.lines(endpoints if ask else [], target.stack))
        watched = asyncio.create_task(alerts.sections(target, settings))
        try:
            cluster = cluster or await ClusterApi.connect(kubeconfig, front_door.namespaces(settings))
            seen = await cluster.snapshot()
            shown = sections(seen, settings, values, target.stack)
            pools, health = await asyncio.to_thread(_google, target, seen)
            if pools is not None:
                shown.insert(1, ScreenSection("Node pools of GKE", pools))
            if health is not None:
                shown.insert(len(shown) - 1, ScreenSection("Google's load balancer", health))
        except (SetUpFailed, Unreachable, SignedOut) as problem:
            # A token is valid for an hour: the next snapshot signs in again.
            cluster = None
            shown = [_cluster(values, str(problem))]
        measured = [ScreenSection(title, lines) for title, lines in (await watched).items()]
        position = max(1, len(shown) - 1)
        shown[position:position] = [ScreenSection("Answers", await asked), *measured]
        yield shown


def _google(target: Target, seen: Snapshot) -> tuple[list[Line] | None, list[Line] | None]:
    """Lines on node pools and on the backends' health from Google's APIs; ``None`` if the cloud has no such APIs."""
    settings = target.settings
    try:
        with emulated(target):
            if may_ask(target):
                return node_pools.section(settings, target.stack), backend_health.section(seen, settings)
    except (SetUpFailed, Stale) as problem:
        cause, _, fix = str(problem).partition("\nFix: ")
        return None, [Line("load balancer", State.UNKNOWN, cause, fix)]
    return None, None


def _cluster(values: Outputs, problem: str) -> ScreenSection:
    cause, _, fix = problem.partition("\nFix: ")
    return ScreenSection("Cluster", [Line(str(values.cluster.get("name")), State.BAD, cause, fix)])


async def _first(target: Target, *, ask: bool) -> list[ScreenSection]:
    all_looks = looks(target, ask=ask)
    try:
        return await anext(all_looks)
    finally:
        await all_looks.aclose()


async def once(target: Target, output: Output, *, ask: bool) -> list[ScreenSection]:
    """Shows one snapshot."""
    with working(f"reading the cluster of stack {target.stack}"):
        first = await _first(target, ask=ask)
    show(output, as_json(target.stack, target.cloud.value, first), rendered(first))
    return first


async def watch(target: Target, output: Output, every: float, *, ask: bool) -> list[ScreenSection]:
    """Shows snapshots every ``every`` seconds until Ctrl-C: redrawn on a terminal, one after the other elsewhere."""
    if output is Output.JSON or not sys.stdout.isatty():
        async for shown in looks(target, ask=ask):
            data = as_json(target.stack, target.cloud.value, shown)
            if output is Output.JSON:
                print(json.dumps(data), flush=True)
            else:
                show(output, data, rendered(shown))
            await asyncio.sleep(every)
        return []
    from rich.live import Live

    with Live(auto_refresh=False) as live:
        async for shown in looks(target, ask=ask):
            live.update(rendered(shown), refresh=True)
            await asyncio.sleep(every)
    return []
