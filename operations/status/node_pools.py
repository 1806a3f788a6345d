"""Node pools in GKE's API: a pool that GKE could not create has no nodes that Kubernetes could show."""

from __future__ import annotations

from llmd_gke.settings import StackSettings
from operations.doctor.google import GoogleClient, GoogleRequestError, login
from operations.doctor.node_pools import RUNNING, NodePool, node_pools
from operations.status.objects import Line, State


def lines(pools: list[NodePool], stack: str) -> list[Line]:
    """One line for each pool with a problem, and one for all others."""
    running = [pool.name for pool in pools if pool.state == RUNNING]
    shown = [Line("running", State.GOOD, ", ".join(running))] if running else []
    for pool in pools:
        if pool.broken:
            shown.append(Line(pool.name, State.BAD, pool.message, pool.fix(stack)))
        elif pool.state != RUNNING:
            shown.append(Line(pool.name, State.BUSY, pool.state))
    return shown


def section(settings: StackSettings, stack: str) -> list[Line]:
    """Lines on the pools, or one line with the reason why GKE cannot be queried."""
    try:
        return lines(node_pools(GoogleClient(settings.project, login()), settings), stack)
    except GoogleRequestError as error:
        return [Line("node pools", State.UNKNOWN, f"cannot be queried: {error}")]
