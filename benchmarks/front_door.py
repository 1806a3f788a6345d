"""What the front door costs on the laptop cloud: latency by hop, as Markdown on standard output.

``make up CLOUD=laptop STACK=door`` first, with ``keepPaths: true`` in the stack file: the direct path is then the
model's own path at the same load balancer, with the same endpoint picker. ``python benchmarks/front_door.py``
asks the paths in turn, so that other load on the machine concerns all of them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, cast

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.limits import machine  # noqa: E402 - this file is run from anywhere
from llmd_gke.settings.secret_keys import stand_in_key  # noqa: E402
from localcloud.cluster import kubectl  # noqa: E402
from localcloud.common.workdir import Workdir  # noqa: E402
from localcloud.linux_namespaces import inside  # noqa: E402
from localcloud.workflow import state  # noqa: E402

STACK, MODEL = "door", "qwen"
DOOR, DIRECT, SERVICE, SERVER = "load balancer, door", "load balancer", "door", "server"
CALLER = "batch"
"""Of the stack's callers the one without a limit of requests; its tokens are counted."""

PROBE = """
import asyncio, json, sys, time
import httpx
paths, rounds, seconds, at_once = json.loads(sys.argv[1])
async def ask(http, path):
    headers = {"authorization": f"Bearer {path['key']}"} if path["key"] else {}
    body = {"model": path["model"], "messages": [{"role": "user", "content": "hello"}], "max_tokens": 4, "stream": True}
    began = time.perf_counter()
    first = None
    try:
        async with http.stream("POST", path["url"], json=body, headers=headers) as answer:
            async for piece in answer.aiter_bytes():
                first = first or time.perf_counter() - began
    except httpx.HTTPError:
        return 0, 0, 0
    return answer.status_code, first or 0, time.perf_counter() - began
async def main():
    async with httpx.AsyncClient(trust_env=False, timeout=10) as http:
        for path in paths:
            for _ in range(5):
                await ask(http, path)
        seen = {path["name"]: [] for path in paths}
        for _ in range(rounds):
            for path in paths:
                seen[path["name"]].append(await ask(http, path))
        rates = {}
        for path in paths if at_once else ():
            began = time.perf_counter()
            count = 0
            lost = 0
            async def again():
                nonlocal count, lost
                while time.perf_counter() - began < seconds:
                    status, *_ = await ask(http, path)
                    count += status == 200
                    lost += status != 200
            await asyncio.gather(*(again() for _ in range(at_once)))
            rates[path["name"]] = count / seconds, lost
    print(json.dumps([seen, rates]))
asyncio.run(main())
"""
"""Runs in the laptop cloud's network: asks each path once in every round, after five requests that do not count."""

Timing = tuple[int, float, float]
"""Status (0: no whole answer within ten seconds), seconds until the first byte of the answer, seconds until its end."""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--at-once", type=int, default=16, help="requests at once when counting requests per second")
    options = parser.parse_args()
    workdir = Workdir.of(kind="laptop")
    print(f"Measured on {machine()}.\n")
    seen, rates = probe(workdir, paths(workdir), options.rounds, 10, options.at_once)
    print(latency(seen, rates))


def paths(workdir: Workdir) -> list[dict[str, str]]:
    """The ways to the model, by name: URL, model and key of each."""
    present = state.read(workdir, STACK)
    if present is None:
        sys.exit(f"Stack {STACK} is not up. Fix: make up CLOUD=laptop STACK={STACK}")
    base = str(present.outputs["baseUrl"])
    service = _get(workdir, "service", "-n", "envoy-gateway-system", "front-door")["spec"]["clusterIP"]
    pods = _get(workdir, "pods", "-n", "models", "-l", "kserve.io/component=workload")["items"]
    key, chat = stand_in_key(CALLER), "chat/completions"
    root = base.removesuffix("/v1")
    return [
        {"name": DOOR, "url": f"{base}/{chat}", "model": MODEL, "key": key},
        {"name": DIRECT, "url": f"{root}/models/{MODEL}/v1/{chat}", "model": MODEL, "key": ""},
        {"name": SERVICE, "url": f"http://{service}/v1/{chat}", "model": MODEL, "key": key},
        {"name": SERVER, "url": f"http://{pods[0]['status']['podIP']}:8000/v1/{chat}", "model": MODEL, "key": ""},
    ]


def _get(workdir: Workdir, *what: str) -> dict[str, Any]:
    done = kubectl.run(workdir, "get", *what, "-o", "json")
    if done.returncode != 0:
        sys.exit(done.stderr)
    return cast("dict[str, Any]", json.loads(done.stdout))


def probe(
    workdir: Workdir, ways: Sequence[Mapping[str, str]], rounds: int, seconds: float, at_once: int
) -> tuple[dict[str, list[Timing]], dict[str, tuple[float, int]]]:
    """Timings of each path, then, with so many at once for so many seconds, answers per second and failures."""
    asked = json.dumps([ways, rounds, seconds, at_once])
    done = subprocess.run(
        inside.command(workdir.home, [sys.executable, "-P", "-c", PROBE, asked]),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(done.stderr)
    seen, rates = json.loads(done.stdout)
    return {name: [(status, first, whole) for status, first, whole in each] for name, each in seen.items()}, rates


def latency(seen: Mapping[str, Sequence[Timing]], rates: Mapping[str, tuple[float, int]]) -> str:
    """The tables: each path, and what the door adds in the same round. Milliseconds."""
    lines = [
        "| Path | Requests | Not 200 | First byte p50 | p99 | Whole p50 | p99 | Requests/s | Failed then |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, timings in seen.items():
        first, whole = ([timing[index] for timing in timings] for index in (1, 2))
        failed = sum(status != 200 for status, *_ in timings)
        rate, lost = rates.get(name, (0.0, 0))
        lines.append(f"| {name} | {len(timings)} | {failed} | {_pair(first)} | {_pair(whole)} | {rate:.0f} | {lost} |")
    lines += ["", "| Difference in the same round | First byte p50 | p99 | Whole p50 | p99 |", "|---|--:|--:|--:|--:|"]
    for more, less in ((DOOR, DIRECT), (DOOR, SERVICE), (SERVICE, SERVER), (DIRECT, SERVER)):
        both = list(zip(seen[more], seen[less], strict=True))
        first, whole = ([one[index] - other[index] for one, other in both] for index in (1, 2))
        lines.append(f"| {more} - {less} | {_pair(first)} | {_pair(whole)} |")
    return "\n".join(lines)


def _pair(seconds: Iterable[float]) -> str:
    values = sorted(seconds)
    return f"{1000 * median(values):.1f} | {1000 * quantiles(values, n=100)[98]:.1f}"


if __name__ == "__main__":
    main()
