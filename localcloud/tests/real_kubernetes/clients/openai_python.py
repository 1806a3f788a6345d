# OpenAI's client is in an environment of its own (requirements/clients.txt), which type checkers do not see.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUnknownLambdaType=false
"""OpenAI's client for Python asks an endpoint: reads the question of ``asking.py`` from standard input, prints what it
saw in each case. ``openai.mjs`` does the same with OpenAI's client for Node, ``further.py`` with other libraries.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import openai

QUESTION: dict[str, Any] = json.load(sys.stdin)
MODEL, TOOLS, SCHEMA = QUESTION["model"], QUESTION["tools"], QUESTION["schema"]
SHORT = QUESTION["short"]


def client(key: str = QUESTION["key"]) -> openai.OpenAI:
    return openai.OpenAI(base_url=QUESTION["base"], api_key=key, max_retries=0, timeout=60)


def messages(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def chat() -> dict[str, Any]:
    answer = client().chat.completions.create(model=MODEL, messages=messages(SHORT), max_tokens=64)
    choice = answer.choices[0]
    usage = answer.usage.completion_tokens if answer.usage else 0
    return {"text": choice.message.content, "end": choice.finish_reason, "model": answer.model, "tokens": usage}


def completion() -> dict[str, Any]:
    answer = client().completions.create(model=MODEL, prompt=SHORT, max_tokens=64)
    return {"text": answer.choices[0].text, "end": answer.choices[0].finish_reason, "model": answer.model}


def stream() -> dict[str, Any]:
    more: Any = {"stream_options": {"include_usage": True}}
    pieces: list[str] = []
    tokens = 0
    for event in client().chat.completions.create(model=MODEL, messages=messages(SHORT), stream=True, **more):
        pieces += [choice.delta.content for choice in event.choices if choice.delta.content]
        tokens = event.usage.completion_tokens if event.usage else tokens
    return {"text": "".join(pieces), "pieces": len(pieces), "tokens": tokens}


def completion_stream() -> dict[str, Any]:
    events = client().completions.create(model=MODEL, prompt=SHORT, max_tokens=64, stream=True)
    pieces = [choice.text for event in events for choice in event.choices if choice.text]
    return {"text": "".join(pieces), "pieces": len(pieces)}


def stream_without_usage() -> dict[str, Any]:
    """Also how many events have no choices, where a program that reads ``choices[0]`` ends."""
    events = [*client().chat.completions.create(model=MODEL, messages=messages(SHORT), stream=True)]
    text = "".join(choice.delta.content or "" for event in events for choice in event.choices)
    return {"text": text, "empty": sum(not event.choices for event in events)}


def token_ids() -> dict[str, Any]:
    answer = client().completions.create(model=MODEL, prompt=[50, 51, 52, 53], max_tokens=8)
    return {"tokens": answer.usage.prompt_tokens if answer.usage else 0}


def response() -> dict[str, Any]:
    answer = client().responses.create(model=MODEL, input=SHORT, max_output_tokens=64)
    return {"text": answer.output_text, "end": answer.status}


def response_stream() -> dict[str, Any]:
    events = client().responses.create(model=MODEL, input=SHORT, max_output_tokens=64, stream=True)
    return {"last": [event.type for event in events][-1]}


def models() -> dict[str, Any]:
    return {"names": [one.id for one in client().models.list()]}


def tools() -> dict[str, Any]:
    answer = client().chat.completions.create(
        model=MODEL, messages=messages(SHORT), tools=TOOLS, tool_choice="required", temperature=0
    )
    choice = answer.choices[0]
    (call,) = choice.message.tool_calls or []
    return {"name": call.function.name, "arguments": json.loads(call.function.arguments), "end": choice.finish_reason}


def tools_stream() -> dict[str, Any]:
    given: Any = {"model": MODEL, "messages": messages(SHORT), "tools": TOOLS, "tool_choice": "required"}
    name, arguments = "", ""
    for event in client().chat.completions.create(**given, temperature=0, stream=True):
        for choice in event.choices:
            for call in choice.delta.tool_calls or []:
                name = name or call.function.name or ""
                arguments += call.function.arguments or ""
    return {"name": name, "arguments": json.loads(arguments)}


def structured() -> dict[str, Any]:
    shape: Any = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}}
    text = json.dumps({"city": "Paris"})
    answer = client().chat.completions.create(model=MODEL, messages=messages(text), response_format=shape)
    return {"content": json.loads(answer.choices[0].message.content or "")}


def unknown_model() -> dict[str, Any]:
    return failure(lambda: client().chat.completions.create(model="no-such-model", messages=messages(SHORT)))


def wrong_request() -> dict[str, Any]:
    return failure(lambda: client().chat.completions.create(model=MODEL, messages=messages(SHORT), max_tokens=-1))


def too_long() -> dict[str, Any]:
    return failure(lambda: client().completions.create(model=MODEL, prompt="word " * 100_000, max_tokens=1))


def wrong_path() -> dict[str, Any]:
    return failure(lambda: client().post("/nobody/knows", body={"model": MODEL}, cast_to=object))


def wrong_key() -> dict[str, Any]:
    other = client("nobody-has-this-key-0123456789abcdef")
    return failure(lambda: other.chat.completions.create(model=MODEL, messages=messages(SHORT)))


def failure(ask: Callable[[], Any], kind: Any = openai.APIStatusError) -> dict[str, Any]:
    """The client's own kind of error and what it made of the answer's body; no ``error`` where there was none."""
    try:
        ask()
    except kind as error:
        message = error.body.get("error", error.body).get("message") if isinstance(error.body, dict) else None
        return {"error": type(error).__name__, "status": error.status_code, "message": message, "text": error.message}
    except openai.OpenAIError as error:
        return {"error": type(error).__name__}
    return {}


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "chat": chat,
    "completion": completion,
    "stream": stream,
    "completion stream": completion_stream,
    "stream without usage": stream_without_usage,
    "token ids": token_ids,
    "responses": response,
    "responses, streamed": response_stream,
    "models": models,
    "tools": tools,
    "tools, streamed": tools_stream,
    "structured output": structured,
    "unknown model": unknown_model,
    "wrong request": wrong_request,
    "too long": too_long,
    "wrong path": wrong_path,
    "wrong key": wrong_key,
}


def answer(cases: Mapping[str, Callable[[], dict[str, Any]]]) -> None:
    """Runs the cases that the question names, each on its own; one that ends with an error tells it."""
    seen: dict[str, Any] = {}
    for name in QUESTION["cases"]:
        try:
            seen[name] = cases[name]()
        except Exception as error:
            seen[name] = {"broken": repr(error)}
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    answer(CASES)
