"""Sends requests from inside a laptop cloud and tells what came back: a program of its own, given and giving JSON.

``python client.py`` reads ``{"base": URL, "at_once": N, "requests": [...]}`` from standard input; a request has
``method``, ``path``, and where wanted ``body`` (JSON), ``raw`` (text), ``size`` (a body of so many characters),
``headers``, ``slowly`` (seconds over which the body is sent).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx


async def body_in_pieces(content: bytes, seconds: float) -> AsyncIterator[bytes]:
    pieces = 10
    step = -(-len(content) // pieces)
    for index in range(pieces):
        yield content[index * step : (index + 1) * step]
        await asyncio.sleep(seconds / pieces)


async def ask(client: httpx.AsyncClient, wanted: dict[str, Any], turn: asyncio.Semaphore) -> dict[str, Any]:
    content: Any = None
    if "size" in wanted:
        content = json.dumps({**wanted.get("body", {}), "prompt": "x" * wanted["size"]}).encode()
    elif "raw" in wanted:
        content = wanted["raw"].encode()
    elif "body" in wanted:
        content = json.dumps(wanted["body"]).encode()
    if "slowly" in wanted:
        content = body_in_pieces(content, wanted["slowly"])
    headers = {"content-type": "application/json", **wanted.get("headers", {})}
    async with turn:
        started = time.monotonic()
        pieces: list[tuple[float, str]] = []
        try:
            method = wanted.get("method", "GET" if content is None else "POST")
            async with client.stream(method, wanted["path"], content=content, headers=headers) as answer:
                async for piece in answer.aiter_text():
                    pieces.append((time.monotonic() - started, piece))
        except httpx.HTTPError as error:
            return {"status": 0, "error": repr(error), "pieces": pieces, "seconds": time.monotonic() - started}
        return {
            "status": answer.status_code,
            "headers": dict(answer.headers),
            "pod": answer.headers.get("x-inference-pod", ""),
            "pieces": pieces,
            "text": "".join(piece for _, piece in pieces),
            "seconds": time.monotonic() - started,
        }


async def main() -> None:
    request = json.load(sys.stdin)
    turn = asyncio.Semaphore(request.get("at_once", 1))
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    timeout = httpx.Timeout(request.get("seconds", 120))
    async with httpx.AsyncClient(base_url=request["base"], limits=limits, timeout=timeout, trust_env=False) as client:
        json.dump(await asyncio.gather(*(ask(client, one, turn) for one in request["requests"])), sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
