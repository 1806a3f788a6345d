"""Measures the first token of one caller while streams of another keep a model busy: a program inside a laptop cloud.

``python priorities_client.py PLAN`` takes JSON: ``url``, ``model``, ``quick`` (key of the caller that is measured),
``busy`` (key of the other), ``count`` (its streams at once), ``probes``. It prints JSON: seconds to the first token of
``idle`` (the measured caller alone), ``saturated`` (among the streams) and ``batch`` (of the streams), and ``failed``
(streams and probes that did not end whole).
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from typing import Any

import httpx

PROMPT_LENGTH = (2, 20)
"""Fewest and most words of a prompt, which the server repeats: different, so that the streams do not end together."""
PAUSE_SECONDS = (0.0, 1.0)
SETTLE_SECONDS = 8.0
"""Until all streams have begun and wait for each other."""


async def first_token(http: httpx.AsyncClient, plan: dict[str, Any], key: str, length: int) -> float | None:
    """Seconds to the first token of one whole answer; ``None`` if it was not whole."""
    body = {
        "model": plan["model"],
        "messages": [{"role": "user", "content": " ".join(["hello"] * length)}],
        "max_tokens": 100,
        "stream": True,
    }
    began, first, whole = time.monotonic(), None, False
    try:
        headers = {"authorization": f"Bearer {key}"}
        async with http.stream("POST", f"{plan['url']}/v1/chat/completions", json=body, headers=headers) as answer:
            async for line in answer.aiter_lines():
                if first is None and '"content"' in line:
                    first = time.monotonic() - began
                whole = whole or (answer.status_code == 200 and line == "data: [DONE]")
    except httpx.HTTPError:
        return None
    return first if whole else None


async def probes(http: httpx.AsyncClient, plan: dict[str, Any]) -> list[float | None]:
    seen: list[float | None] = []
    for _ in range(plan["probes"]):
        await asyncio.sleep(random.uniform(*PAUSE_SECONDS))
        seen.append(await first_token(http, plan, plan["quick"], PROMPT_LENGTH[0]))
    return seen


async def main(plan: dict[str, Any]) -> None:
    limits = httpx.Limits(max_connections=None)
    batch: list[float | None] = []
    async with httpx.AsyncClient(limits=limits, timeout=60, trust_env=False) as http:
        idle = await probes(http, plan)
        done = asyncio.Event()

        async def again() -> None:
            while not done.is_set():
                batch.append(await first_token(http, plan, plan["busy"], random.randint(*PROMPT_LENGTH)))

        async with asyncio.TaskGroup() as group:
            for _ in range(plan["count"]):
                group.create_task(again())
            await asyncio.sleep(SETTLE_SECONDS)
            saturated = await probes(http, plan)
            done.set()
    results = {"idle": idle, "saturated": saturated, "batch": batch}
    whole = {name: [one for one in times if one is not None] for name, times in results.items()}
    failed = sum(one is None for times in results.values() for one in times)
    print(json.dumps({**whole, "failed": failed}))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
