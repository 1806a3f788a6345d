"""Sends a completion at regular times until its standard input ends: a program of its own, inside a laptop cloud.

``python steady_client.py URL MODEL PAUSE`` writes a line of JSON for each answer as it comes: ``at`` (seconds since
1970 when it was sent), ``status`` (0: none), ``seconds``, ``error``. Requests do not wait for each other. They have the
caller's key that is in ``LLM_API_KEY``, if any.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time

import httpx


async def one(client: httpx.AsyncClient, model: str, number: int) -> None:
    at, started = time.time(), time.monotonic()
    error = ""
    try:
        body = {"model": model, "prompt": f"steady {number}", "max_tokens": 8}
        status = (await client.post("/v1/completions", json=body)).status_code
    except httpx.HTTPError as problem:
        status, error = 0, repr(problem)
    answer = {"at": at, "status": status, "seconds": time.monotonic() - started, "error": error}
    print(json.dumps(answer), flush=True)


async def main(url: str, model: str, pause: float) -> None:
    ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    key = os.environ.get("LLM_API_KEY")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx.AsyncClient(base_url=url, headers=headers, timeout=60, trust_env=False) as client,
        asyncio.TaskGroup() as group,
    ):
        number = 0
        while not ended.done():
            group.create_task(one(client, model, number))
            number += 1
            await asyncio.wait([ended], timeout=pause)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
