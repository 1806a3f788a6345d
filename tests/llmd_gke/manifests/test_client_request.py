"""The request that a stack's outputs name, run by a shell."""

from __future__ import annotations

import json
import subprocess

from llmd_gke.manifests.client_request import curl

PRINTER = """curl() { printf '%s\\n' "$@"; }\n"""


def test_a_shell_gives_curl_the_address_and_a_chat_with_the_served_name() -> None:
    command = curl("https://llm.example.com/models/qwen", "Qwen/Qwen3-4B")
    assert "\n" not in command
    done = subprocess.run(["sh", "-c", PRINTER + command], capture_output=True, text=True, check=True)
    address, *head, body = done.stdout.splitlines()
    assert address == "https://llm.example.com/models/qwen/v1/chat/completions"
    assert head == ["-H", "content-type: application/json", "-d"]
    request = json.loads(body)
    assert request["model"] == "Qwen/Qwen3-4B"
    assert [message["role"] for message in request["messages"]] == ["user"]
