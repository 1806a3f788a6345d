"""Runs the checks of one model, or of all, within a time limit."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import httpx

from operations.outputs import Endpoint
from operations.smoke.checks import FIRST, LONG, REST, Check
from operations.smoke.client import Client, Options
from operations.smoke.outcome import CheckFailed, Outcome, Skipped, Verdict
from operations.symptoms import explain

REQUEST_SECONDS = 60.0
"""Maximum wait for one chunk of an answer in seconds."""

Say = Callable[[str], None]


async def smoke(
    endpoints: Sequence[Endpoint],
    stack: str,
    options: Options,
    *,
    seconds: float = 120.0,
    certificates: ssl.SSLContext | None = None,
    say: Say = lambda _: None,
) -> list[Outcome]:
    """Outcomes of all checks, model by model, within ``seconds`` in total.

    ``certificates``: a file of certificate authorities that replaces the system's. ``say`` gets the model that is being
    checked.
    """
    deadline = time.monotonic() + seconds
    outcomes: list[Outcome] = []
    limits = httpx.Limits(max_connections=options.together + 4)
    # Without the environment's proxies: the test covers the path from here to the gateway.
    async with httpx.AsyncClient(verify=certificates or True, limits=limits, trust_env=False) as http:
        for endpoint in endpoints:
            say(f"asking {endpoint.name} at {endpoint.url}")
            left = max(deadline - time.monotonic(), 1.0)
            outcomes += await _one(Client(endpoint, http, min(REQUEST_SECONDS, left), options), endpoint, deadline)
    return [_explained(outcome, stack, endpoints[0].gateway) for outcome in outcomes]


async def _one(client: Client, endpoint: Endpoint, deadline: float) -> list[Outcome]:
    first = [await _try(name, check, client, endpoint, deadline) for name, check in FIRST]
    tried = [outcome for outcome in first if outcome.verdict != "skipped"]
    if all(outcome.verdict == "failed" and outcome.detail.startswith(NO_ANSWER) for outcome in tried):
        return first + [
            Outcome(name, endpoint.name, "skipped", "not run: the endpoint does not answer")
            for name, _ in (*REST, LONG)
        ]
    # The long answer runs concurrently with the others: alone it would take most of the available time.
    long = asyncio.create_task(_try(*LONG, client, endpoint, deadline))
    try:
        rest = [await _try(name, check, client, endpoint, deadline) for name, check in REST]
        return [*first, *rest, await long]
    finally:
        long.cancel()


NO_ANSWER = "no answer: "


async def _try(name: str, check: Check, client: Client, endpoint: Endpoint, deadline: float) -> Outcome:
    started = time.monotonic()
    verdict: Verdict
    try:
        async with asyncio.timeout(max(deadline - started, 0.0)):
            detail, verdict = await check(client), "passed"
    except CheckFailed as failed:
        detail, verdict = str(failed), "failed"
    except Skipped as skipped:
        detail, verdict = str(skipped), "skipped"
    except TimeoutError:
        detail, verdict = "not finished within the time limit for all checks (--timeout)", "failed"
    except httpx.HTTPError as error:
        detail, verdict = f"{NO_ANSWER}{str(error) or type(error).__name__}", "failed"
    return Outcome(name, endpoint.name, verdict, detail, round(time.monotonic() - started, 2))


def _explained(outcome: Outcome, stack: str, gateway: str) -> Outcome:
    if outcome.verdict != "failed":
        return outcome
    symptom = explain(outcome.detail, gateway)
    if symptom is None:
        return replace(outcome, fix=f"llmd-gke status --stack {stack}")
    return replace(outcome, cause=symptom.cause, fix=symptom.command.format(stack=stack))
