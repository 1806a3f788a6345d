"""The keys of a stack's configuration that hold secrets. Their values are never read here."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from typing import cast

from llmd_gke.rules import notification

NAMESPACE = "llmd-gke"
CALLER_KEYS = "callerKeys"
"""A map of secrets: the keys of the front door's callers, by caller or ``CALLER.NAME``."""
IAP_SECRET = "iapClientSecret"  # noqa: S105 - the name of a key
SECRETS = ("hfToken", "pullSecret", "tlsCertificate", "tlsKey", CALLER_KEYS, IAP_SECRET, *notification.SECRETS)
STAND_IN_SECRET = "rehearsal-dummy"  # noqa: S105 - it stands for secrets that are not there
"""Value of a secret in copies of a stack, if the real one is missing or only its owner can decrypt it."""


def is_secret(name: str) -> bool:
    """Whether a key, given without our namespace, holds a secret, including one with a suffix for a second channel."""
    return name in SECRETS or any(notification.is_secret_of(base, name) for base in notification.SECRETS)


def is_secret_key(key: str) -> bool:
    """Whether a full key, such as ``llmd-gke:hfToken``, holds a secret."""
    namespace, _, name = key.partition(":")
    return namespace == NAMESPACE and is_secret(name)


def command_to_set(key: str, stack: str) -> str:
    """The command that sets the secret with this full key; callers' keys are created one by one, and shown once."""
    name = shlex.quote(stack)
    if key == f"{NAMESPACE}:{CALLER_KEYS}":
        return f"llmd-gke key new CALLER --stack {name} (for each caller)"
    return f"pulumi config set --secret {key} --stack {name}"


def stand_in_key(caller_key: str) -> str:
    """The stand-in key of a caller in a local cloud if the stack file has none."""
    return f"{STAND_IN_SECRET}-key-of-the-caller-{caller_key}"


def caller_keys(value: object, callers: Collection[str]) -> dict[str, str | None] | None:
    """The callers' keys by name, from the value of :data:`CALLER_KEYS`; ``None`` if even the names are encrypted.

    An encrypted key is ``None``, and one that is not text is empty.
    """
    if value == STAND_IN_SECRET:
        return {caller: stand_in_key(caller) for caller in callers}
    if not isinstance(value, Mapping):
        return {}
    table = cast("Mapping[str, object]", value)
    if list(table) == ["secure"]:
        return None
    return {name: _key(name, one) for name, one in table.items()}


def _key(name: str, value: object) -> str | None:
    if value == STAND_IN_SECRET:
        return stand_in_key(name)
    if isinstance(value, Mapping) and "secure" in value:
        return None
    return value if isinstance(value, str) else ""


def holds_stand_ins(value: object) -> bool:
    """Whether a value stands in for a secret, or is a map of such values."""
    if isinstance(value, Mapping):
        return any(holds_stand_ins(one) for one in cast("Mapping[str, object]", value).values())
    return value == STAND_IN_SECRET


def is_plain(value: object) -> bool:
    """Whether a value of a stack file is a secret in plain text, or a map that contains one."""
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        return "secure" not in table and any(is_plain(one) for one in table.values())
    return value != STAND_IN_SECRET
