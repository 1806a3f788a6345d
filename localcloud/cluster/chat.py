"""Asks a model one question through the gateway, as its users will: ``python -m localcloud.cluster.chat``.

Runs inside the namespaces. Reads from stdin, as JSON, ``url`` and ``servedModelName`` of the stack's outputs, and
``address``, the gateway's; and ``key`` if a front door requires one. Prints the answer; without an answer, prints one
line with the reason and returns exit status 1.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import cast
from urllib.parse import urlsplit

import httpx
import tenacity

QUESTION = "Say in one sentence what this endpoint runs on."
WAIT_SECONDS = 60.0
"""Time limit in seconds: a gateway needs some seconds for a new route, on Google Cloud possibly minutes."""

SOON = frozenset({404, 500, 502, 503})
"""Statuses of a gateway that does not have the route or a healthy pod yet.

500: a front door's Envoys start without AI Gateway's sidecar and are replaced after the first model's route exists
(``annotateGatewayPods`` in envoyproxy/ai-gateway ``internal/controller/gateway.go`` 1.0.0); a model's simulator can be
ready sooner.
"""


class NotYet(Exception):
    """No answer yet; the message has the reason, which may be transient."""


def ask(url: str, model: str, address: str, key: str | None = None, question: str = QUESTION) -> tuple[str, float]:
    """The model's answer, and its duration in seconds. ``key`` is for a front door.

    Raises :class:`NotYet`, or ``httpx.HTTPError``.

    For a URL with a domain the request goes to the gateway's address: the name does not resolve here. Its certificate
    is then not verified, since no authority signed it.
    """
    split = urlsplit(url)
    host = split.hostname or ""
    here = split._replace(netloc=split.netloc.replace(host, address, 1)).geturl()
    body = {"model": model, "messages": [{"role": "user", "content": question}], "max_tokens": 64}
    started = time.monotonic()
    with httpx.Client(verify=False, timeout=30.0, trust_env=False) as client:  # noqa: S501 - see above
        target = f"{here}/v1/chat/completions"
        extensions = {"sni_hostname": host} if host != address else {}
        headers = {"Host": split.netloc, **({"Authorization": f"Bearer {key}"} if key else {})}
        response = client.post(target, json=body, headers=headers, extensions=extensions)
    if not response.is_success:
        raise NotYet(f"{url}/v1/chat/completions answered {response.status_code}: {response.text.strip()[:300]}")
    content = cast("Mapping[str, object]", response.json())
    choices = cast("list[Mapping[str, Mapping[str, object]]]", content["choices"])
    return str(choices[0]["message"]["content"]), time.monotonic() - started


def patiently(url: str, model: str, address: str, key: str | None = None) -> tuple[str, float]:
    """As :func:`ask`, repeated for :data:`WAIT_SECONDS` while the gateway may not have the route yet."""

    def may_pass(error: BaseException) -> bool:
        return isinstance(error, httpx.TransportError) or (
            isinstance(error, NotYet) and any(f" answered {code}:" in str(error) for code in SOON)
        )

    again = tenacity.Retrying(
        stop=tenacity.stop_after_delay(WAIT_SECONDS),
        wait=tenacity.wait_fixed(0.5),
        retry=tenacity.retry_if_exception(may_pass),
        reraise=True,
    )
    return again(ask, url, model, address, key)


def main() -> int:
    """Prints the answer, or the reason why there is none. Returns the exit status."""
    asked = cast("Mapping[str, str]", json.load(sys.stdin))
    url, model = asked["url"], asked["servedModelName"]
    try:
        answer, took = patiently(url, model, asked["address"], asked.get("key"))
    except (NotYet, httpx.HTTPError, KeyError, json.JSONDecodeError) as error:
        print(f"{model}: no answer. {error}")
        return 1
    echo = " (the simulator that replaces vLLM repeats the question)" if answer == QUESTION else ""
    print(f"Question to {model} at {url}:\n  {QUESTION}\nAnswer after {took:.2f} s{echo}:\n  {answer}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
