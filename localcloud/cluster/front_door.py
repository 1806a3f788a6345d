"""The front door of a stack: whether there is one, the programs of its pods (ten minutes of building), and a caller's
key.
"""

from __future__ import annotations

from typing import cast

from llmd_gke.problems import BadInput
from llmd_gke.settings import SettingsError, load_stack
from llmd_gke.settings.load import read_config
from llmd_gke.settings.secret_keys import CALLER_KEYS, NAMESPACE, caller_keys
from localcloud.common.workdir import Workdir
from localcloud.workflow import config

KEY = "llmd-gke:frontDoor"
PROGRAMS = (
    "front-door-envoy",
    "redis-server",
    "ai-gateway-extproc",
    "ai-gateway-controller",
    "envoy-gateway",
    "ratelimit",
)
"""Programs that are installed or built for it."""


def asked(workdir: Workdir, stack: str) -> bool:
    """Whether the stack's file has the setting. Raises ``BadInput`` for a file that cannot be read."""
    try:
        return bool(read_config(workdir.root, stack).get(KEY))
    except SettingsError as error:
        raise BadInput(str(error)) from None


def key(workdir: Workdir, stack: str, model: str) -> str | None:
    """The key of a caller who may use that model; ``None`` if no key is needed or known.

    It is read from the copy of the stack file for the engine, in which stand-ins replace secrets.
    """
    door = load_stack(workdir.root, stack).settings.front_door
    copy = workdir.stack_copy(stack)
    if door is None or not door.uses_keys or not copy.exists():
        return None
    values = cast("dict[str, object]", config.read(copy.read_text(encoding="utf-8"), str(copy)).get("config") or {})
    callers = [caller.name for caller in door.callers_of(model)]
    keys = caller_keys(values.get(f"{NAMESPACE}:{CALLER_KEYS}"), callers) or {}
    return next((one for name, one in keys.items() if one and name.partition(".")[0] in callers), None)
