"""Leaves a stream once it is computed, and prints after how many seconds no server computes: a program of its own.

Reads ``[URL, AUTHORIZATION, BODY, PODS]`` from standard input.
"""

from __future__ import annotations

import json
import sys
import time

import httpx

URL, KEY, BODY, PODS = json.load(sys.stdin)


def running() -> float:
    texts = [httpx.get(f"http://{pod}:8000/metrics", trust_env=False).text for pod in PODS]
    lines = [line for text in texts for line in text.splitlines()]
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("vllm:num_requests_running"))


with httpx.stream("POST", URL, json=BODY, headers={"authorization": KEY}, timeout=60, trust_env=False) as answer:
    lines = answer.iter_lines()  # which, unless kept, would close the connection
    next(lines)
    while not running():
        pass
left = time.monotonic()
while running():
    pass
print(time.monotonic() - left)
