"""The stack's Hugging Face token: read from its encrypted configuration, held in memory, never shown."""

from __future__ import annotations

from operations.doctor.tools import ask
from operations.target import Target

KEY = "llmd-gke:hfToken"


def read(target: Target) -> str | None:
    """The token; ``None`` if the stack has none or it cannot be read."""
    from llmd_gke.settings.load import read_config

    if KEY not in read_config(target.root, target.stack):
        return None
    command = ["pulumi", "-C", str(target.root), "--non-interactive", "config", "get", KEY, "-s", target.stack]
    return ask(command) or None
