# The libraries are in an environment of its own (requirements/clients.txt), which type checkers do not see.
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
"""Anthropic's client, LangChain and LiteLLM ask an endpoint as ``openai_python.py`` does, and say what they saw alike.

``python further.py LIBRARY``.
"""

from __future__ import annotations

import functools
import json
import operator
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from localcloud.tests.real_kubernetes.clients.openai_python import (
    MODEL,
    QUESTION,
    SCHEMA,
    SHORT,
    TOOLS,
    answer,
    failure,
    messages,
)

Cases = Mapping[str, Callable[[], dict[str, Any]]]
BASE, KEY = QUESTION["base"], QUESTION["key"]
PLACE = json.dumps({"city": "Paris"})


def by_anthropic() -> Cases:
    import anthropic

    root = BASE.removesuffix("/v1")
    client = anthropic.Anthropic(base_url=root, auth_token=KEY, api_key=None, max_retries=0, timeout=60)
    question: Any = {"model": MODEL, "messages": messages(SHORT), "max_tokens": 64}
    function = TOOLS[0]["function"]
    weather: Any = {"name": function["name"], "description": function["description"], "input_schema": SCHEMA}

    def chat() -> dict[str, Any]:
        said = client.messages.create(**question)
        return {"text": said.content[0].text, "end": said.stop_reason, "tokens": said.usage.output_tokens}

    def stream() -> dict[str, Any]:
        with client.messages.stream(**question) as events:
            pieces = [*events.text_stream]
            said = events.get_final_message()
        return {"pieces": len(pieces), "tokens": said.usage.output_tokens}

    def tools() -> dict[str, Any]:
        said = client.messages.create(
            **question, tools=[weather], tool_choice={"type": "any"}, extra_body={"temperature": 0}
        )
        (call,) = [block for block in said.content if block.type == "tool_use"]
        return {"name": call.name, "arguments": call.input}

    def count() -> dict[str, Any]:
        return {"tokens": client.messages.count_tokens(model=MODEL, messages=messages(SHORT)).input_tokens}

    def unknown() -> dict[str, Any]:
        other = {**question, "model": "no-such-model"}
        return failure(lambda: client.messages.create(**other), anthropic.APIStatusError)

    return {
        "/v1/messages": chat,
        "/v1/messages, streamed": stream,
        "/v1/messages, tools": tools,
        "/v1/messages/count_tokens": count,
        "unknown model": unknown,
    }


def by_langchain() -> Cases:
    from langchain_openai import ChatOpenAI

    def model(name: str = MODEL, **more: Any) -> Any:
        return ChatOpenAI(model=name, base_url=BASE, api_key=KEY, max_retries=0, timeout=60, stream_usage=True, **more)

    def chat() -> dict[str, Any]:
        said = model().invoke(SHORT)
        end = said.response_metadata["finish_reason"]
        return {"text": said.content, "end": end, "tokens": said.usage_metadata["output_tokens"]}

    def stream() -> dict[str, Any]:
        pieces = [*model().stream(SHORT)]
        whole: Any = functools.reduce(operator.add, pieces)
        return {"pieces": sum(bool(one.content) for one in pieces), "tokens": whole.usage_metadata["output_tokens"]}

    def tools() -> dict[str, Any]:
        (call,) = model(temperature=0).bind_tools(TOOLS, tool_choice="required").invoke(SHORT).tool_calls
        return {"name": call["name"], "arguments": call["args"]}

    def structured() -> dict[str, Any]:
        shaped = model().with_structured_output({"title": "place", **SCHEMA}, method="json_schema", strict=True)
        return {"content": shaped.invoke(PLACE)}

    return {
        "chat": chat,
        "stream": stream,
        "usage of a stream": stream,
        "tools": tools,
        "structured output": structured,
        "unknown model": lambda: failure(lambda: model("no-such-model").invoke(SHORT)),
    }


def by_litellm() -> Cases:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the internet for prices
    import litellm

    litellm.suppress_debug_info = True  # which it prints to standard output

    def ask(text: str = SHORT, model: str = MODEL, **more: Any) -> Any:
        known: Any = {"api_base": BASE, "api_key": KEY, "max_retries": 0, "timeout": 60}
        return litellm.completion(model=f"hosted_vllm/{model}", messages=messages(text), **known, **more)

    def chat() -> dict[str, Any]:
        said = ask()
        choice = said.choices[0]
        return {"text": choice.message.content, "end": choice.finish_reason, "tokens": said.usage.completion_tokens}

    def stream() -> dict[str, Any]:
        pieces = [*ask(stream=True, stream_options={"include_usage": True})]
        whole = litellm.stream_chunk_builder(pieces)
        said = [one for one in pieces if one.choices and one.choices[0].delta.content]
        return {"pieces": len(said), "tokens": whole.usage.completion_tokens}

    def tools() -> dict[str, Any]:
        (call,) = ask(tools=TOOLS, tool_choice="required", temperature=0).choices[0].message.tool_calls
        return {"name": call.function.name, "arguments": json.loads(call.function.arguments)}

    def structured() -> dict[str, Any]:
        shape = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}}
        return {"content": json.loads(ask(PLACE, response_format=shape).choices[0].message.content)}

    def unknown() -> dict[str, Any]:
        seen = failure(lambda: ask(model="no-such-model"))
        return {**seen, "message": seen["text"]}  # which has the server's words

    return {
        "chat": chat,
        "stream": stream,
        "tools": tools,
        "structured output": structured,
        "unknown model": unknown,
    }


if __name__ == "__main__":
    answer({"anthropic": by_anthropic, "LangChain": by_langchain, "LiteLLM": by_litellm}[sys.argv[1]]())
