"""Startup, readiness and liveness probes, at the periods and thresholds of the pod.

https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/; gRPC:
https://github.com/grpc/grpc/blob/master/doc/health-checking.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

import grpc.aio
import httpx

from llmd_common.kubernetes.fields import Object, each, part, text, texts

Exec = Callable[[list[str], float], Awaitable[tuple[int, str]]]
"""Runs a command in the container, for at most some seconds: status and output."""

SERVING = 1
_trusting = ssl.create_default_context()
_trusting.check_hostname = False
_trusting.verify_mode = ssl.CERT_NONE


@dataclass(frozen=True)
class ProbeResult:
    """Result of a probe: ``ok``, or the reason why not."""

    ok: bool
    message: str = ""


@dataclass(frozen=True)
class Times:
    """Seconds and thresholds of a probe, with Kubernetes' defaults."""

    delay_seconds: float
    period_seconds: float
    timeout_seconds: float
    failures: int
    successes: int

    @classmethod
    def of(cls, probe: Object) -> Times:
        """The times in a probe's definition."""
        return cls(
            delay_seconds=float(probe.get("initialDelaySeconds") or 0),
            period_seconds=float(probe.get("periodSeconds") or 10),
            timeout_seconds=float(probe.get("timeoutSeconds") or 1),
            failures=int(probe.get("failureThreshold") or 3),
            successes=int(probe.get("successThreshold") or 1),
        )


async def check(probe: Object, container: Object, address: str, execute: Exec) -> ProbeResult:
    """Runs a probe once. Failures are results, not exceptions."""
    seconds = Times.of(probe).timeout_seconds * lateness()
    try:
        if "exec" in probe:
            status, output = await execute(texts(probe, "exec", "command"), seconds)
            return ProbeResult(status == 0, output.strip())
        async with asyncio.timeout(seconds):
            if "httpGet" in probe:
                return await http(part(probe, "httpGet"), container, address)
            if "tcpSocket" in probe:
                return await _tcp(part(probe, "tcpSocket"), container, address)
            return await _grpc(part(probe, "grpc"), address)
    except TimeoutError:
        return ProbeResult(False, f"no answer within {seconds:g} s")
    except (OSError, httpx.HTTPError, httpx.InvalidURL, grpc.RpcError, ValueError) as error:
        return ProbeResult(False, str(error).splitlines()[0] if str(error) else type(error).__name__)
    except Exception as error:
        # Whatever a container that is just ending makes of an exec.
        return ProbeResult(False, f"{type(error).__name__}: {error}")


def lateness() -> float:
    """By how much a probe may be late: all nodes share this machine, whose queue of processes is no fault of a pod.

    Up to two processes a processor change nothing; at a load of 30 on two processors a pod has seven times as long.
    """
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1) / 2)


def port_of(container: Object, port: object) -> int:
    """A port by number or by its name in the container."""
    if isinstance(port, int) or str(port).isdigit():
        return int(cast("int | str", port))
    for declared in each(container, "ports"):
        if declared.get("name") == port:
            return int(declared["containerPort"])
    raise ValueError(f'couldn\'t find port "{port}"')


async def http(action: Object, container: Object, address: str) -> ProbeResult:
    """A GET; 200 to 399 is success."""
    scheme = (text(action, "scheme") or "HTTP").lower()
    host = text(action, "host") or address
    path = text(action, "path")
    url = f"{scheme}://{host}:{port_of(container, action['port'])}/{path.lstrip('/')}"
    headers = {"User-Agent": "kube-probe/1.36", "Accept": "*/*"}
    headers |= {str(one["name"]): str(one["value"]) for one in each(action, "httpHeaders")}
    async with (
        httpx.AsyncClient(verify=_trusting, trust_env=False, timeout=None) as client,  # noqa: S113 - the caller's
        client.stream("GET", url, headers=headers) as answer,
    ):
        return ProbeResult(200 <= answer.status_code < 400, f"HTTP probe failed with statuscode: {answer.status_code}")


async def _tcp(action: Object, container: Object, address: str) -> ProbeResult:
    _, writer = await asyncio.open_connection(text(action, "host") or address, port_of(container, action["port"]))
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return ProbeResult(True)


async def _grpc(action: Object, address: str) -> ProbeResult:
    name = text(action, "service").encode()
    # HealthCheckRequest{service = 1}, HealthCheckResponse{status = 1}: too small for generated code.
    request = b"" if not name else b"\x0a" + bytes([len(name)]) + name
    async with grpc.aio.insecure_channel(f"{address}:{action['port']}") as channel:
        ask = cast(
            "Callable[[bytes], Awaitable[bytes]]", cast(Any, channel).unary_unary("/grpc.health.v1.Health/Check")
        )
        answer = await ask(request)
    status = answer[1] if len(answer) > 1 else 0
    return ProbeResult(status == SERVING, f"service unhealthy (responded with status {status})")


async def outcomes(probe: Object, look: Callable[[], Awaitable[ProbeResult]]) -> AsyncGenerator[ProbeResult, None]:
    """Yields an outcome after each probe from the first threshold on: that many successes or failures in a row.

    Begins after the initial delay, and never ends.
    """
    times = Times.of(probe)
    await asyncio.sleep(times.delay_seconds)
    row = 0
    before: bool | None = None
    while True:
        result = await look()
        row = row + 1 if result.ok is before else 1
        before = result.ok
        if row >= (times.successes if result.ok else times.failures):
            yield result
        await asyncio.sleep(times.period_seconds)
