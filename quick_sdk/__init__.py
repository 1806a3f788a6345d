"""A quicker SDK, by ``quick_sdk.switch_on()`` before the first import of a provider's package.

Of the providers' packages, only those modules are imported that the program uses (:mod:`quick_sdk.imports`), and the
SDK waits for all pending outputs at once (:mod:`quick_sdk.pending_outputs`). Without the call a program registers the
same resources, only later. What upstream should change, so that this package can go: ``docs/contributing/upstream.md``.
"""

from __future__ import annotations

from quick_sdk.imports import install
from quick_sdk.pending_outputs import wait_at_once


def switch_on() -> None:
    """For the rest of the process."""
    install()
    wait_at_once()
