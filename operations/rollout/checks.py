"""What is asked about a version before and between the steps: by other commands, in a process of their own.

Those enter a laptop cloud, in which ``up`` could not run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from tempfile import TemporaryDirectory
from time import sleep
from typing import cast

from pydantic import TypeAdapter

from operations import outputs
from operations.bench.result import Level
from operations.exits import NotUp, Unreachable
from operations.live.calls import call
from operations.options import Cloud
from operations.target import Target


class Check(StrEnum):
    """A check of the version whose part of the requests grows."""

    SMOKE = "smoke"
    BENCH = "bench"
    ALERTS = "alerts"


MUCH = 1.5
"""How many times slower than the other version is too slow: a level of some seconds varies by a fifth."""
UNREAD = "alerts"
"""Subject of the line that says why there are none, or that none fires."""
AGAIN_SECONDS = 60
"""Between two looks at an alert that has begun."""
AT_ONCE, SECONDS = 4, 20
"""Concurrent requests of a check by bench, which real ones share the servers with, and how long it takes."""


def up(target: Target, version: str) -> None:
    """Raises ``NotUp`` for a version, by the name of its objects, without a server that is ready."""
    if version not in {one.name for one in outputs.read(target).models}:
        raise NotUp(f"Version {version} is in the stack file, but not up.\nFix: {target.up}, then again")
    if target.cloud is Cloud.REHEARSAL:
        return
    lines = _screen(target).get(f"Model {version}", [])
    if not any(one["state"] == "good" and one["text"].startswith("ready") for one in lines):
        seen = "".join(f"\n  {one['subject']}: {one['text']}" for one in lines)
        raise NotUp(
            f"No server of version {version} is ready: it could not answer.{seen}\n"
            f"Fix: llmd-gke status --stack {target.stack}, then again"
        )


def problems(
    target: Target, version: str, other: str, checks: Sequence[Check], say: Callable[[str], None]
) -> Iterator[str]:
    """What the checks say against a version, which bench compares with the ``other`` one. ``say`` gets what they wait
    for.
    """
    if Check.SMOKE in checks:
        yield from smoke(target, "--model", version)
    if Check.BENCH in checks:
        yield from _bench(target, version, other)
    if Check.ALERTS in checks:
        yield from _alerts(target, version, say)


def _alerts(target: Target, version: str, say: Callable[[str], None]) -> Iterator[str]:
    """The alerts about a version that fire. One whose condition holds already is awaited: it fires or ends."""
    while True:
        lines = _screen(target).get("Alerts")
        if lines is None:
            yield "alerts: they cannot be read"
            return
        ours = [one for one in lines if one["subject"].endswith(f"({version})") or one["subject"] == UNREAD]
        against = [one for one in ours if one["state"] in ("bad", "unknown")]
        yield from (f"alerts: {one['subject']}: {one['text']}" for one in against)
        begun = [one for one in ours if one["state"] == "busy"]
        if against or not begun:
            return
        say(f"waiting for {begun[0]['subject']}, {begun[0]['text']}")
        sleep(AGAIN_SECONDS)


def smoke(target: Target, *arguments: str) -> Iterator[str]:
    """What ``llmd-gke smoke`` says against a stack."""
    done = call(target, "smoke", *arguments)
    if done.status:
        last = "".join(f"\n  {line}" for line in (done.output + done.errors).strip().splitlines()[-15:])
        yield f"smoke: status {done.status}{last}"


def _bench(target: Target, version: str, other: str) -> Iterator[str]:
    """Whether a version is much slower than the other one, or fails requests, under the same small load."""
    levels: list[Level] = []
    for name in (other, version):
        load = ("--workload", "random", "--first", f"{AT_ONCE}", "--most", f"{AT_ONCE}", "--seconds", f"{SECONDS}")
        with TemporaryDirectory() as folder:
            done = call(target, "bench", "--model", name, *load, "--folder", folder, "--output", "json")
        if done.status:
            yield f"bench of {name}: status {done.status}: {done.errors.strip()[-300:]}"
            return
        levels.append(TypeAdapter(list[Level]).validate_python(json.loads(done.output)["levels"])[-1])
    before, after = levels
    if after.errors:
        yield f"bench: {after.errors} of {after.requests + after.errors} requests to {version} failed"
    # The median: a twentieth of so few requests is one or two.
    if after.ttft_p50 > MUCH * before.ttft_p50:
        yield f"bench: first token after {after.ttft_p50:.2f} s (median), {before.ttft_p50:.2f} s from {other}"
    if after.output_tokens_per_second * MUCH < before.output_tokens_per_second:
        fast, slow = before.output_tokens_per_second, after.output_tokens_per_second
        yield f"bench: {slow:.0f} tokens a second, {fast:.0f} from {other}"


def _screen(target: Target) -> dict[str, list[dict[str, str]]]:
    """The sections of ``llmd-gke status``. Raises ``Unreachable`` without any."""
    done = call(target, "status", "--no-ask", "--output", "json")
    try:
        sections = cast("list[dict[str, object]]", json.loads(done.output)["sections"])
    except (ValueError, KeyError):
        raise Unreachable(f"The cluster cannot be read: {done.errors.strip()}") from None
    return {str(one["title"]): cast("list[dict[str, str]]", one["lines"]) for one in sections}
