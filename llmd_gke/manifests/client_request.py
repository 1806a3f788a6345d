"""A request to a model as a shell command."""

from __future__ import annotations

import json
import shlex

QUESTION = "Why is the sky blue?"


KEY_VARIABLE = "LLM_API_KEY"
"""The variable that holds the client's key in the printed commands for the front door."""


def curl(url: str, served_name: str, *, with_key: bool = False) -> str:
    """A ``curl`` command in one line, ready to paste: a chat with ``served_name`` at ``url`` (without ``/v1``).

    ``with_key``: the key is taken from the variable :data:`KEY_VARIABLE`.
    """
    body = {"model": served_name, "messages": [{"role": "user", "content": QUESTION}]}
    command = ["curl", f"{url}/v1/chat/completions", "-H", "content-type: application/json", "-d", json.dumps(body)]
    call = shlex.join(command)
    return f'{call} -H "authorization: Bearer ${KEY_VARIABLE}"' if with_key else call
