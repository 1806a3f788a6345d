"""One supervised process: its command, its readiness check, and the pauses before restarts."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

CHECK_SECONDS = 5.0
"""Time limit of a readiness check."""

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 30.0
STABLE_SECONDS = 60.0
"""Seconds without an exit after which the pause before a restart is the shortest again."""

ATTEMPTS = 4
"""Number of exits before it was ever ready after which the start fails."""

Check = Callable[[], str]
"""Returns the reason why a process is not ready yet; empty if it is ready."""


@dataclass(frozen=True)
class Service:
    """A process to keep running. It is started once everything in ``after`` is ready.

    ``ready`` checks whether it is ready. ``mark`` is the file that the process itself writes for that check
    (:func:`written`), if any: it is removed before each start. ``grace_seconds``: time limit for its exit after
    SIGTERM.
    """

    name: str
    command: tuple[str, ...]
    ready: Check
    after: tuple[str, ...] = ()
    mark: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    grace_seconds: float = 5.0


def pause_seconds(exits: int) -> float:
    """Seconds to wait before the next start, after ``exits`` exits in a row: 0.5, doubled each time, at most 30."""
    return min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** max(0, exits - 1))


def answers(url: str, authority: Path | None = None) -> Check:
    """A check that a URL answers 200, over TLS with that CA."""

    def check() -> str:
        try:
            # It runs several times a second during a start: the public authorities would be read each time.
            trusted = ssl.create_default_context(cafile=str(authority)) if authority else False
            code = httpx.get(url, timeout=CHECK_SECONDS, verify=trusted, trust_env=False).status_code
        except (httpx.TransportError, OSError) as error:
            return f"{url}: {error}"
        return "" if code == 200 else f"{url} answers {code}"

    return check


def written(mark: Path) -> Check:
    """A check that a process has written its file ``mark``."""
    return lambda: "" if mark.exists() else f"{mark.name} does not exist yet"
