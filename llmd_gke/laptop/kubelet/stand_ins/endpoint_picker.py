#!/opt/bin/python3
"""llm-d's endpoint picker in the laptop cloud: the one of the Gateway API Inference Extension, which llm-d's builds on.

Both take the same arguments and configuration; llm-d's has scorers more (llm-d/llm-d-router v0.9.0 ``pkg/plugins``),
which the other, v1.5.0, refuses (``cmd/epp/runner/runner.go``). They are left out of the configuration, and the log
says so. A plugin that neither has still ends the picker, as in a real cluster.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

PROGRAM = "/opt/bin/epp"

ONLY_LLM_D = {
    "active-request-scorer",
    "load-aware-scorer",
    "no-hit-lru-scorer",
    "precise-prefix-cache-scorer",
    "session-affinity-scorer",
}
OPTION = "--config-text"


def reduced(text: str) -> tuple[str, list[str]]:
    """The configuration without those scorers, and which they were; other text than JSON stays as it is."""
    try:
        content: dict[str, Any] = json.loads(text)
    except ValueError:
        return text, []
    out = [one for one in content.get("plugins", []) if one["type"] in ONLY_LLM_D]
    names = {one.get("name") or one["type"] for one in out}
    content["plugins"] = [one for one in content.get("plugins", []) if one not in out]
    for profile in content.get("schedulingProfiles", []):
        profile["plugins"] = [one for one in profile.get("plugins", []) if one["pluginRef"] not in names]
    return json.dumps(content), [one["type"] for one in out]


def translate(words: list[str]) -> tuple[list[str], list[str]]:
    """The arguments with a reduced configuration, and what was left out."""
    arguments: list[str] = []
    out: list[str] = []
    for position, word in enumerate(words):
        before = words[position - 1] if position else ""
        name, equals, value = word.partition("=")
        if before in (OPTION, OPTION[1:]):
            text, found = reduced(word)
            arguments.append(text)
            out += found
        elif equals and name in (OPTION, OPTION[1:]):
            text, found = reduced(value)
            arguments.append(f"{name}={text}")
            out += found
        else:
            arguments.append(word)
    return arguments, out


if __name__ == "__main__":
    passed, left_out = translate(sys.argv[1:])
    if left_out:
        print(f"laptop cloud: scorers that only llm-d's picker has, left out: {', '.join(left_out)}", flush=True)
    os.execv(PROGRAM, [PROGRAM, *passed])  # noqa: S606 - no shell
