"""A request that a client can send to a model, as a command for a shell."""

from __future__ import annotations

import json
import shlex

QUESTION = "Why is the sky blue?"


def curl(url: str, served_name: str) -> str:
    """A ``curl`` call in one line, to be pasted as it is: a chat with ``served_name`` at ``url`` (without ``/v1``)."""
    body = {"model": served_name, "messages": [{"role": "user", "content": QUESTION}]}
    command = ["curl", f"{url}/v1/chat/completions", "-H", "content-type: application/json", "-d", json.dumps(body)]
    return shlex.join(command)
