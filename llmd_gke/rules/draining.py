"""Rules about how long a load balancer drains, and the pods behind it.

Source: https://cloud.google.com/load-balancing/docs/enabling-connection-draining (after the timeout all connections to
the removed endpoint are closed).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmd_gke.rules import vllm_arguments
from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input
from llmd_gke.rules.pods import arguments, containers

SLEEP = re.compile(r"(?:^|/|\s)sleep\s+(\d+)")
DURATION = re.compile(r"(\d+)(s|m|h)")
UNITS = {"s": 1, "m": 60, "h": 3600}


def of_pod(pod: Input, pause: int = 0) -> int | None:
    """Seconds that vLLM in a pod finishes running requests, from its removal on: the pause of its ``preStop`` and
    ``--shutdown-timeout``; ``None`` without that argument. ``pause``: that of a pod without a ``preStop``.
    """
    longest: int | None = None
    for container in containers(pod):
        timeouts = [
            argument.value
            for argument in vllm_arguments.read(arguments(container))
            if argument.name == vllm_arguments.SHUTDOWN_TIMEOUT
        ]
        if not timeouts or not timeouts[-1].isdecimal():
            continue
        stop = container.get("lifecycle", "preStop")
        slept = stop.get("sleep", "seconds").integer()
        command = SLEEP.search(" ".join(word.text() or "" for word in stop.get("exec", "command").each()))
        before = pause if stop.value is None else slept or (int(command[1]) if command else 0)
        longest = max(longest or 0, before + int(timeouts[-1]))
    return longest


def of_proxy(proxy: Input) -> int | None:
    """Seconds that Envoys finish running requests: ``shutdown.drainTimeout`` of an EnvoyProxy; ``None`` without it."""
    match = DURATION.fullmatch(proxy.get("shutdown", "drainTimeout").text() or "")
    return int(match[1]) * UNITS[match[2]] if match else None


def policy(spec: Input, behind: int, whose: str) -> Iterator[Finding]:
    """A GCPBackendPolicy drains at least as long as what is behind it. ``behind``: seconds; ``whose``: its label."""
    seconds = spec.get("default", "connectionDraining", "drainingTimeoutSec")
    value = seconds.integer()
    if value is not None and value < behind:
        yield Finding(
            "backend-draining",
            f"{seconds.path}: the load balancer closes connections after {value} s, but {whose} finishes running "
            f"requests for {behind} s",
            allowed=f"at least {behind}",
            fix=f"set drainingTimeoutSec: {behind}",
        )
