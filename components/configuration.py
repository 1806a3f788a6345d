"""The stack's configuration: typed settings, and its secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pulumi
from pulumi.runtime import get_root_directory
from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret

from llmd_gke.settings import SettingsError, StackSettings, parse
from llmd_gke.settings.errors import describe
from llmd_gke.settings.load import read_config
from llmd_gke.settings.secret_keys import CALLER_KEYS, NAMESPACE, is_secret_key
from llmd_gke.settings.stack_secrets import plain_caller_keys, plain_secrets

_STRUCTURED = ("[", "{")


@dataclass(frozen=True)
class StackSecrets:
    """The secrets of a stack: ``values`` by full key, and the keys of the front door's callers by name."""

    values: Mapping[str, pulumi.Output[str]]
    caller_keys: pulumi.Output[Mapping[str, str]]

    def named(self, name: str) -> pulumi.Output[str]:
        """The secret ``llmd-gke:NAME``. Raises ``KeyError`` for one that the settings do not require."""
        return self.values[f"{NAMESPACE}:{name}"]


def read() -> tuple[StackSettings, StackSecrets]:
    """The validated settings of the current stack, and its secrets; warnings go to the engine's log.

    Raises :class:`pulumi.RunError`, which the engine prints as one message, for invalid settings.
    """
    try:
        return _read()
    except SettingsError as error:
        raise pulumi.RunError(str(error)) from None


def _read() -> tuple[StackSettings, StackSecrets]:
    values: dict[str, str] = {**get_config_env(), **CONFIG.get()}
    encrypted = [key for key in values if is_config_secret(key)]
    if plain := plain_secrets(values, encrypted):
        raise SettingsError(pulumi.get_stack(), plain)
    raw = {key: _decoded(value) for key, value in values.items() if not is_secret_key(key)}
    keys = _decoded(values.get(f"{NAMESPACE}:{CALLER_KEYS}"))
    if plain := plain_caller_keys(_in_stack_file(), keys):
        raise SettingsError(pulumi.get_stack(), plain)
    secrets = {key: value for key, value in values.items() if is_secret_key(key)}
    checked = parse(raw, pulumi.get_stack(), [*secrets], encrypted=encrypted, keys=keys)
    for warning in checked.warnings:
        pulumi.log.warn(describe(warning).strip())
    outputs = {key: pulumi.Output.secret(value) for key, value in secrets.items()}
    return checked.settings, StackSecrets(outputs, pulumi.Output.secret(checked.caller_keys))


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


def _decoded(value: str | None) -> object:
    """The engine passes structured values as JSON text, and all other values as plain text."""
    if value is not None and value.startswith(_STRUCTURED):
        try:
            return cast("object", json.loads(value))
        except (json.JSONDecodeError, RecursionError):
            return value
    return value
