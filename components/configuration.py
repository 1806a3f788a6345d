"""The stack's configuration as typed settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pulumi
from pulumi.runtime import get_root_directory
from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret

from llmd_gke.settings import Checked, SettingsError, StackSettings, parse
from llmd_gke.settings.errors import describe
from llmd_gke.settings.load import read_config
from llmd_gke.settings.secret_keys import CALLER_KEYS, NAMESPACE, is_secret_key
from llmd_gke.settings.stack_secrets import plain_caller_keys, plain_secrets

_STRUCTURED = ("[", "{")


def read() -> StackSettings:
    """The validated settings of the current stack; warnings go to the engine's log.

    Raises :class:`pulumi.RunError`, which the engine prints as one message, for invalid settings.
    """
    try:
        checked = _parse()
    except SettingsError as error:
        raise pulumi.RunError(str(error)) from None
    for warning in checked.warnings:
        pulumi.log.warn(describe(warning).strip())
    return checked.settings


def _parse() -> Checked:
    values: dict[str, object] = {**get_config_env(), **CONFIG.get()}
    encrypted = [key for key in values if is_config_secret(key)]
    if plain := plain_secrets(values, encrypted):
        raise SettingsError(pulumi.get_stack(), plain)
    raw = {key: _decoded(value) for key, value in values.items() if not is_secret_key(key)}
    keys = _decoded(values.get(f"{NAMESPACE}:{CALLER_KEYS}"))
    if plain := plain_caller_keys(_in_stack_file(), keys):
        raise SettingsError(pulumi.get_stack(), plain)
    secrets = [key for key in values if is_secret_key(key)]
    return parse(raw, pulumi.get_stack(), secrets, encrypted=encrypted, keys=keys)


def _in_stack_file() -> object:
    """The callers' keys as the stack file of the project's folder has them; ``None`` if it cannot be read.

    A graph that is recorded after policies ran in the same process has no folder: they reset Pulumi's settings.
    """
    root = cast("str | None", get_root_directory())
    if root is None:
        return None
    try:
        config = read_config(Path(root), pulumi.get_stack())
    except SettingsError:
        return None
    return config.get(f"{NAMESPACE}:{CALLER_KEYS}")


def _decoded(value: object) -> object:
    """The engine passes structured values as JSON text, and all other values as plain text."""
    if isinstance(value, str) and value.startswith(_STRUCTURED):
        try:
            return cast("object", json.loads(value))
        except (json.JSONDecodeError, RecursionError):
            return value
    return value
