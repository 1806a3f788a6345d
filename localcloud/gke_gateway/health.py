"""The health of pods as the gateway's Envoy sees it, for the emulator of Google's APIs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import httpx

from localcloud.common.layout import Layout
from localcloud.providers.protocol.values import JsonObject, dig, number, objects, text

ANSWER_SECONDS = 5.0
"""Time limit of a request to Envoy."""


@dataclass(frozen=True)
class Seen:
    """A pod's address and port, and whether its last health checks passed."""

    address: str
    port: int
    healthy: bool


def seen(home: Path) -> Mapping[str, tuple[Seen, ...]]:
    """The endpoints of every backend that a Gateway of this laptop cloud has, by the backend's name.

    Empty where no gateway runs, or where its Envoy cannot be reached: it listens inside the namespaces only. Also
    empty while the gateway replaces or removes one of the files.
    """
    root = Layout(home).root / "gateway"
    try:
        backends = {
            name
            for file in (root / "accepted").glob("*/*.json")
            for name in cast("JsonObject", dig(json.loads(file.read_text(encoding="utf-8")), "sources") or {})
        }
        started = json.loads((root / "envoy" / "bootstrap.json").read_text(encoding="utf-8"))
        port = number(started, "admin", "address", "socket_address", "port_value")
        # It is on this machine: no proxy of the environment is asked.
        answer = httpx.get(f"http://127.0.0.1:{port}/clusters?format=json", timeout=ANSWER_SECONDS, trust_env=False)
        clusters = cast("JsonObject", answer.raise_for_status().json())
    except (OSError, ValueError, httpx.HTTPError):
        return {}
    return {
        name: tuple(_endpoint(host) for host in objects(cluster, "host_statuses"))
        for cluster in objects(clusters, "cluster_statuses")
        if (name := text(cluster, "name")) in backends
    }


def _endpoint(host: JsonObject) -> Seen:
    """https://www.envoyproxy.io/docs/envoy/latest/api-v3/admin/v3/clusters.proto: a status says what is wrong only."""
    states = dig(host, "health_status")
    failed = not isinstance(states, dict) or bool(states.keys() - {"eds_health_status"})
    return Seen(
        text(host, "address", "socket_address", "address"),
        number(host, "address", "socket_address", "port_value") or 0,
        healthy=not failed,
    )
