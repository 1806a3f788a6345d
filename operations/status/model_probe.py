"""The last step: whether each model answers at the gateway, and generates a token."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import httpx

from operations.outputs import NO_IDENTITY, Endpoint
from operations.printing import short
from operations.smoke.client import Client, HttpAnswer, Options
from operations.status.objects import Line, State
from operations.symptoms import explain

ANSWER_SECONDS = 10.0


async def lines(endpoints: Sequence[Endpoint], stack: str) -> list[Line]:
    """A line for each model: its health, and the time of one token, both through the gateway."""
    async with httpx.AsyncClient(trust_env=False) as http:
        clients = [Client(endpoint, http, ANSWER_SECONDS, Options()) for endpoint in endpoints]
        return list(
            await asyncio.gather(
                *(_line(client, endpoint, stack) for client, endpoint in zip(clients, endpoints, strict=True))
            )
        )


async def _line(client: Client, endpoint: Endpoint, stack: str) -> Line:
    if endpoint.behind_iap and not endpoint.identity:
        return Line(endpoint.name, State.UNKNOWN, *NO_IDENTITY)
    try:
        if not endpoint.behind_door:  # which serves /v1 only
            health = await client.get("/health")
            if health.status != 200:
                return _bad(endpoint, f"/health returns {health.status}: {short(health.text)}", stack)
        answer: HttpAnswer = await client.post(
            "/v1/completions", {"model": client.name, "prompt": "1", "max_tokens": 1}
        )
    except httpx.HTTPError as error:
        return _bad(endpoint, f"no answer: {str(error) or type(error).__name__}", stack)
    if answer.status != 200:
        state = "" if endpoint.behind_door else "healthy, but "
        return _bad(endpoint, f"{state}a completion returns {answer.status}: {short(answer.text)}", stack)
    return Line(endpoint.name, State.GOOD, f"a token in {answer.seconds:.2f} s at {endpoint.url}")


def _bad(endpoint: Endpoint, problem: str, stack: str) -> Line:
    symptom = explain(problem, endpoint.gateway)
    # Here "see status" would not help: the lines above are the status.
    here = symptom is None or "llmd-gke status" in symptom.command
    fix = "" if here or symptom is None else symptom.command.format(stack=stack)
    return Line(endpoint.name, State.BAD, problem + (f" ({symptom.cause})" if symptom else ""), fix)
