"""Reading a stack's settings from its file, without the engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from llmd_gke.settings import stack_files
from llmd_gke.settings.errors import SettingsError
from llmd_gke.settings.parse import Checked, parse
from llmd_gke.settings.secret_keys import CALLER_KEYS, NAMESPACE, is_secret_key
from llmd_gke.settings.stack_secrets import plain_secrets
from llmd_gke.settings.validation import SettingFinding


def load_stack(root: Path, stack: str, *, need_secrets: bool = False) -> Checked:
    """The settings of ``Pulumi.<stack>.yaml`` in the folder ``root``.

    ``need_secrets``: also report secrets that the stack needs and the file lacks. Raises :class:`SettingsError` for
    a file that is missing or unreadable, and for everything that :func:`parse` rejects.
    """
    config = read_config(root, stack)
    encrypted = _encrypted(config)
    if plain := plain_secrets(config, encrypted):
        raise SettingsError(stack, plain)
    present = [key for key in config if is_secret_key(key)]
    keys = config.get(f"{NAMESPACE}:{CALLER_KEYS}")
    return parse(config, stack, present if need_secrets else None, encrypted=encrypted, keys=keys)


def _encrypted(config: Mapping[str, object]) -> list[str]:
    """The full keys whose value contains, at any depth, something that the engine encrypted: ``{secure: v1:…}``."""
    return [key for key, value in config.items() if _holds_secure(value)]


def _holds_secure(value: object) -> bool:
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        return "secure" in table or any(_holds_secure(inner) for inner in table.values())
    return isinstance(value, list) and any(_holds_secure(inner) for inner in cast("list[object]", value))


def read_config(root: Path, stack: str) -> dict[str, object]:
    """The ``config`` table of a stack file, unchecked. Raises :class:`SettingsError` if the file cannot be read."""
    try:
        content = stack_files.content(stack_files.text(root, stack), f"Pulumi.{stack}.yaml")
        config = cast("Mapping[str, object]", content).get("config") if isinstance(content, Mapping) else None
        if not isinstance(config, Mapping):
            raise stack_files.Unusable(
                f"Pulumi.{stack}.yaml has no map `config:`", fix="see Pulumi.eu4a.yaml for a complete one"
            )
        if lost := [str(key) for key in cast("Mapping[object, object]", content) if ":" in str(key)]:
            raise stack_files.Unusable(
                f"{', '.join(lost)} beside `config:`, where nothing reads it", fix="indent it, below `config:`"
            )
    except stack_files.Unusable as unusable:
        raise SettingsError(stack, [SettingFinding(f"Pulumi.{stack}.yaml", None, unusable.finding)]) from None
    return {str(key): value for key, value in cast("Mapping[object, object]", config).items()}
