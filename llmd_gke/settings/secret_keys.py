"""The keys of a stack's configuration that hold secrets. Their values are never read here."""

from __future__ import annotations

from llmd_gke.rules import notification

NAMESPACE = "llmd-gke"
SECRETS = ("hfToken", "pullSecret", "tlsCertificate", "tlsKey", *notification.SECRETS)
"""Keys of our namespace that hold secrets."""
STAND_IN_SECRET = "rehearsal-dummy"  # noqa: S105 - it stands for secrets that are not there
"""Value of a secret in copies of a stack: only the owner can decrypt the real one, or it is missing."""


def is_secret(name: str) -> bool:
    """Whether a key of our namespace, without it, holds a secret: also one with a suffix for a second channel."""
    return name in SECRETS or any(notification.is_secret_of(base, name) for base in notification.SECRETS)


def is_secret_key(key: str) -> bool:
    """Whether a full key, such as ``llmd-gke:hfToken``, holds a secret."""
    namespace, _, name = key.partition(":")
    return namespace == NAMESPACE and is_secret(name)
