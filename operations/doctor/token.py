"""The stack's Hugging Face token: read from its encrypted configuration, held in memory, never shown."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable

from operations.target import Target

SECONDS = 20
KEY = "llmd-gke:hfToken"


def reader(target: Target) -> Callable[[], str | None]:
    """A function that reads the token when it is called; ``None`` when the stack has none or it cannot be read."""

    def read() -> str | None:
        from llmd_gke.settings.load import read_config

        if KEY not in read_config(target.root, target.stack):
            return None
        pulumi = shutil.which("pulumi")
        if pulumi is None:
            return None
        command = [pulumi, "-C", str(target.root), "--non-interactive", "config", "get", KEY, "-s", target.stack]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() or None if done.returncode == 0 else None

    return read
