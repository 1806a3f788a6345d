"""A request to a model as a shell command."""

from __future__ import annotations

import json
import shlex

QUESTION = "Why is the sky blue?"


KEY_VARIABLE = "LLM_API_KEY"
"""The variable that holds the client's key in the printed commands for the front door."""


IDENTITY_VARIABLE = "IAP_TOKEN"
"""Where clients of a gateway with IAP have Google's token for the OAuth client."""


def curl(url: str, served_name: str, *, with_key: bool = False, with_identity: bool = False) -> str:
    """A ``curl`` command in one line, ready to paste: a chat with ``served_name`` at ``url`` (without ``/v1``).

    ``with_key``: the key is taken from the variable :data:`KEY_VARIABLE`. ``with_identity``: IAP's token is taken from
    :data:`IDENTITY_VARIABLE`, in a header of its own, so that the key stays in ``authorization``.
    """
    body = {"model": served_name, "messages": [{"role": "user", "content": QUESTION}]}
    command = ["curl", f"{url}/v1/chat/completions", "-H", "content-type: application/json", "-d", json.dumps(body)]
    call = shlex.join(command)
    if with_key:
        call = f'{call} -H "authorization: Bearer ${KEY_VARIABLE}"'
    return f'{call} -H "proxy-authorization: Bearer ${IDENTITY_VARIABLE}"' if with_identity else call
