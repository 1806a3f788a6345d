"""Whether a stack has a front door, and what its pods run: ten minutes of building, for such stacks only."""

from __future__ import annotations

from llmd_gke.problems import BadInput
from llmd_gke.settings import SettingsError
from llmd_gke.settings.load import read_config
from localcloud.common.workdir import Workdir

KEY = "llmd-gke:frontDoor"
PROGRAMS = (
    "front-door-envoy",
    "redis-server",
    "ai-gateway-extproc",
    "ai-gateway-controller",
    "envoy-gateway",
    "ratelimit",
)
"""What is installed, and what is built."""


def asked(workdir: Workdir, stack: str) -> bool:
    """Whether the stack's file has the setting. Raises ``BadInput`` for a file that cannot be read."""
    try:
        return bool(read_config(workdir.root, stack).get(KEY))
    except SettingsError as error:
        raise BadInput(str(error)) from None
