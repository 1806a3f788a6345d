"""Keeps many streams open until its standard input ends: a program of its own, inside a laptop cloud.

``python streams_client.py URL STREAMS`` takes ``STREAMS`` as JSON, a list of ``{"model", "key", "count"}``, and further
fields of the requests in ``more``. Each of the ``count`` streams of an entry begins again when it has ended. A line of
JSON for each: ``model``, ``at`` (seconds since 1970 when it was sent), ``seconds``, ``status`` (0: no answer),
``whole`` (the last event came), ``longest`` (seconds between two pieces of the answer), ``error``, ``by`` (the name in
the answer).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import httpx

TOKENS = 10
SPREAD_SECONDS = 5.0
"""Over which the first streams begin."""


async def stream(client: httpx.AsyncClient, entry: dict[str, Any], number: int) -> dict[str, Any]:
    model, key = entry["model"], entry["key"]
    at, started = time.time(), time.monotonic()
    status, whole, longest, error, last, by = 0, False, 0.0, "", started, ""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": " ".join(f"{number}word{index}" for index in range(TOKENS))}],
        "max_tokens": TOKENS,
        "stream": True,
        **entry.get("more", {}),
    }
    try:
        headers = {"authorization": f"Bearer {key}"}
        async with client.stream("POST", "/v1/chat/completions", json=body, headers=headers) as answer:
            status = answer.status_code
            async for line in answer.aiter_lines():
                now = time.monotonic()
                longest, last = max(longest, now - last), now
                whole = whole or line == "data: [DONE]"
                if not by and line.startswith("data: {"):
                    by = json.loads(line.removeprefix("data: ")).get("model", "")
    except httpx.HTTPError as problem:
        error = repr(problem)
    seconds = time.monotonic() - started
    return {
        "model": model,
        "at": at,
        "seconds": seconds,
        "status": status,
        "whole": whole,
        "longest": longest,
        "error": error,
        "by": by,
    }


async def main(url: str, wanted: list[dict[str, Any]]) -> None:
    ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    total = sum(entry["count"] for entry in wanted)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=total)

    async def again(client: httpx.AsyncClient, entry: dict[str, Any], number: int) -> None:
        await asyncio.wait([ended], timeout=SPREAD_SECONDS * number / entry["count"])
        while not ended.done():
            outcome = await stream(client, entry, number)
            print(json.dumps(outcome), flush=True)
            if outcome["status"] != 200:
                await asyncio.wait([ended], timeout=0.5)

    async with (
        httpx.AsyncClient(base_url=url, limits=limits, timeout=60, trust_env=False) as client,
        asyncio.TaskGroup() as group,
    ):
        for entry in wanted:
            for number in range(entry["count"]):
                group.create_task(again(client, entry, number))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
