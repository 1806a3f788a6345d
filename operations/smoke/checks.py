"""The checks. Each returns one sentence on what it saw, or raises ``CheckFailed`` or ``Skipped``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping

from llmd_common.kubernetes.fields import Object, each, number, part, text
from operations.printing import short
from operations.smoke.client import MOST_TEXT, Client, HttpAnswer, Stream, text_of
from operations.smoke.outcome import CheckFailed, Skipped

GKE_DEFAULT_SECONDS = 30.0
"""Backend timeout of GKE's gateways unless a GCPBackendPolicy says otherwise."""

CLEARLY_LONGER_SECONDS = GKE_DEFAULT_SECONDS + 3.0
AT_ONCE_SHARE = 0.05
"""If all chunks arrive within this share of an answer's duration, they were buffered on the way."""

TELLING_SECONDS = 0.3
"""Minimum duration in seconds of an answer that can show whether its chunks were buffered."""


Check = Callable[[Client], Awaitable[str]]


def _short(text: str) -> str:
    return short(text, MOST_TEXT)


def _expect(answer: HttpAnswer, status: int) -> Mapping[str, object]:
    if answer.status != status:
        raise CheckFailed(f"expected status {status}, got {answer.status}: {_short(answer.text)}")
    body = answer.body
    if body is None:
        raise CheckFailed(f"status {status} as expected, but the body is not a JSON object: {_short(answer.text)}")
    return body


def _choice(body: object) -> Object:
    choices = each(body, "choices")
    if not choices:
        raise CheckFailed(f"the answer has no choices: {_short(json.dumps(body))}")
    return choices[0]


async def health(client: Client) -> str:
    """``/health`` answers through the gateway."""
    if client.behind_door:
        raise Skipped("the front door serves /v1 only")
    answer = await client.get("/health")
    if answer.status != 200:
        raise CheckFailed(f"expected status 200, got {answer.status}: {_short(answer.text)}")
    return "200"


async def models(client: Client) -> str:
    """``/v1/models`` lists both names of the model."""
    names = [text(one, "id") for one in await _listed(client)]
    wanted = [name for name in (client.name, client.other_name) if name]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise CheckFailed(f"{', '.join(missing)} is not listed; listed: {', '.join(names) or 'nothing'}")
    return ", ".join(names)


async def _listed(client: Client) -> list[Object]:
    return each(_expect(await client.get("/v1/models"), 200), "data")


async def completion(client: Client) -> str:
    """A completion has text, the model's name and its usage."""
    return await _complete(client, client.name)


async def _complete(client: Client, name: str) -> str:
    request = {"model": name, "prompt": "The capital of France is", "max_tokens": 8, "temperature": 0}
    body = _expect(await client.post("/v1/completions", request), 200)
    # vLLM answers with its first name, whichever was requested (docs.vllm.ai, cli/serve, `--served-model-name`).
    if body.get("model") not in (name, client.name):
        raise CheckFailed(f"requested model {name}, but the answer is from {body.get('model')!r}")
    tokens = number(body, "usage", "completion_tokens")
    if not text(_choice(body), "text") or not tokens:
        raise CheckFailed(f"the answer contains no text or no usage: {_short(json.dumps(body))}")
    return f"{tokens} tokens"


async def advertised(client: Client) -> str:
    """The name that KServe advertises is served, too."""
    name = client.other_name
    if not name:
        raise Skipped("the URL contains no namespace, so the second name is unknown")
    return await _complete(client, name)


async def chat(client: Client) -> str:
    """A chat has an answer of the assistant."""
    request = {
        "model": client.name,
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 32,
    }
    body = _expect(await client.post("/v1/chat/completions", request), 200)
    said = text_of(part(_choice(body), "message"))
    if not said:
        raise CheckFailed(f"the assistant's message is empty: {_short(json.dumps(body))}")
    return f"{len(said)} characters"


async def streaming(client: Client) -> str:
    """A streamed chat arrives in chunks, over time, and ends with ``[DONE]``."""
    seen, tokens = Stream(), 64
    # The parts of a fast server may arrive at once on a busy machine; a proxy that buffers does so each time.
    for _attempt in range(3):
        seen = await client.stream("/v1/chat/completions", _story(client, tokens))
        _ended_well(seen)
        if seen.seconds < TELLING_SECONDS:
            tokens = 1024
        elif seen.arrivals[-1] - seen.arrivals[0] >= AT_ONCE_SHARE * seen.seconds:
            break
    first, last, parts = seen.arrivals[0], seen.arrivals[-1], len(seen.arrivals)
    if parts < 3:
        raise CheckFailed(f"only {parts} parts in {seen.seconds:.1f} s: a proxy on the way buffers the answer")
    if seen.seconds >= TELLING_SECONDS and last - first < AT_ONCE_SHARE * seen.seconds:
        raise CheckFailed(
            f"{parts} parts, all between {first:.2f} s and {last:.2f} s of {seen.seconds:.2f} s: "
            "a proxy on the way buffers the answer"
        )
    note = "" if seen.seconds >= TELLING_SECONDS else ", too fast to tell whether they were buffered"
    return f"{parts} parts, first after {first:.2f} s, last after {last:.2f} s{note}"


def _story(client: Client, tokens: int) -> dict[str, object]:
    return {
        "model": client.name,
        "messages": [{"role": "user", "content": "Tell a long story about a lighthouse, its keeper and the sea."}],
        "max_tokens": tokens,
        "ignore_eos": True,
    }


def _ended_well(seen: Stream) -> None:
    if seen.status != 200:
        raise CheckFailed(f"expected status 200, got {seen.status}: {_short(seen.text)}")
    if "event-stream" not in seen.content_type:
        raise CheckFailed(
            f"expected text/event-stream, got {seen.content_type or 'no content type'}: {_short(seen.text)}"
        )
    if seen.text:
        raise CheckFailed(f"the server reported an error inside the stream: {_short(seen.text)}")
    if not seen.finished and not seen.stopped:
        after = seen.seconds
        hint = ", as GKE's default backend timeout does (504)" if 25 <= after <= 35 else ""
        raise CheckFailed(
            f"the stream was cut off after {after:.1f} s and {len(seen.arrivals)} parts{hint}"
            + (f": {seen.broken}" if seen.broken else "")
        )
    if not seen.arrivals:
        raise CheckFailed("the stream ended without any text")


async def long_answer(client: Client) -> str:
    """An answer that takes longer than 30 s is not aborted. Reading stops after that time."""
    tokens = client.options.long_tokens or await _longest_answer_tokens(client)
    seen = await client.stream("/v1/chat/completions", _story(client, tokens), enough=CLEARLY_LONGER_SECONDS)
    _ended_well(seen)
    if seen.stopped or seen.arrivals[-1] > (GKE_DEFAULT_SECONDS + CLEARLY_LONGER_SECONDS) / 2:
        return f"still arriving after {seen.arrivals[-1]:.0f} s ({len(seen.arrivals)} parts)"
    raise Skipped(
        f"{len(seen.arrivals)} parts took {seen.seconds:.1f} s: too fast to test the cut-off at "
        f"{GKE_DEFAULT_SECONDS:.0f} s. Request more tokens with --long-tokens N (at most the model's context), or "
        "run smoke while `llmd-gke bench` keeps the server busy"
    )


async def _longest_answer_tokens(client: Client) -> int:
    """Tokens of the longest answer that the model can give: ``max_model_len``, as vLLM reports it, minus the prompt."""
    for one in await _listed(client):
        length = one.get("max_model_len")
        if isinstance(length, int):
            return max(64, length - 128)
    # The front door's own list of models does not contain it.
    return 1024 if client.behind_door else 8192


async def together(client: Client) -> str:
    """Several completions at once all succeed."""
    results = await asyncio.gather(
        *(_complete(client, client.name) for _ in range(client.options.together)), return_exceptions=True
    )
    failures = [result for result in results if isinstance(result, BaseException)]
    if failures:
        raise CheckFailed(
            f"{len(failures)} of {len(results)} failed; the first: {failures[0] or type(failures[0]).__name__}"
        )
    return f"{len(results)} of {len(results)}"


async def unknown_model(client: Client) -> str:
    """An unknown model is rejected with 404 and an error that OpenAI's clients can read."""
    request = {"model": "no-such-model", "prompt": "Hello", "max_tokens": 1}
    return _readable_error(await client.post("/v1/completions", request), 404)


async def bad_json(client: Client) -> str:
    """A request that is not JSON is rejected with 400."""
    answer = await client.post("/v1/completions", b'{"model": ')
    if answer.status != 400:
        raise CheckFailed(f"expected status 400, got {answer.status}: {_short(answer.text)}")
    return "400"


def _readable_error(answer: HttpAnswer, status: int) -> str:
    message = text(_expect(answer, status), "error", "message")
    if not message:
        raise CheckFailed(f"status {status} as expected, but no `error.message` in: {_short(answer.text)}")
    return f"{status}: {_short(message)}"


FIRST: tuple[tuple[str, Check], ...] = (("health", health), ("models", models))
"""Checks that run first: if none gets an answer, the others do not run."""

LONG: tuple[str, Check] = ("longer than 30 s", long_answer)

REST: tuple[tuple[str, Check], ...] = (
    ("completion", completion),
    ("chat", chat),
    ("streaming", streaming),
    ("both names", advertised),
    ("several at once", together),
    ("unknown model", unknown_model),
    ("bad JSON", bad_json),
)
