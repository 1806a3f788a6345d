"""Leaves connections idle behind a slow network, and asks again: a program of its own, inside a laptop cloud.

Reads ``{"targets": [{"url", "key"}], "model", "idle": [[seconds, ...], ...]}`` from standard input. Each list of
``idle`` is a connection to each target, with a request, and another one after each of these pauses. A proxy delays
every byte. Prints by target the ``answers``, what was ``lost``, and how many ``connections`` were made.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from urllib.parse import urlsplit

import httpx

DELAY_SECONDS = 0.02
"""Each way."""


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    loop = asyncio.get_running_loop()
    while piece := await reader.read(65536):
        loop.call_later(DELAY_SECONDS, writer.write, piece)
    loop.call_later(DELAY_SECONDS, writer.close)


async def ask(target: dict[str, str], model: str, idle: list[list[float]]) -> dict[str, Any]:
    url = urlsplit(target["url"])
    seen: dict[str, Any] = {"answers": 0, "lost": [], "connections": 0}

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen["connections"] += 1
        behind = await asyncio.open_connection(url.hostname, url.port or 80)
        await asyncio.gather(pump(reader, behind[1]), pump(behind[0], writer), return_exceptions=True)

    async def again(base: str, pauses: list[float]) -> None:
        limits = httpx.Limits(max_connections=1, keepalive_expiry=None)
        headers = {"host": url.netloc} | ({"authorization": f"Bearer {target['key']}"} if target["key"] else {})
        async with httpx.AsyncClient(headers=headers, limits=limits, timeout=60, trust_env=False) as client:
            for pause in [0.0, *pauses]:
                await asyncio.sleep(pause)
                try:
                    body = {"model": model, "prompt": "idle", "max_tokens": 1}
                    answer = await client.post(f"{base}{url.path}/completions", json=body)
                    answer.raise_for_status()
                    seen["answers"] += 1
                except httpx.HTTPError as error:
                    seen["lost"].append(f"{pause:.2f} s: {error!r}")

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as proxy:
        base = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        await asyncio.gather(*(again(base, pauses) for pauses in idle))
    return seen


async def main() -> None:
    given = json.load(sys.stdin)
    json.dump(await asyncio.gather(*(ask(one, given["model"], given["idle"]) for one in given["targets"])), sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
