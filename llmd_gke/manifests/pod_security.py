"""Labels of Pod Security admission (https://kubernetes.io/docs/concepts/security/pod-security-admission/)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from llmd_gke.json_types import JsonObject
from llmd_gke.settings import ModelSettings

PREFIX = "pod-security.kubernetes.io"

Level = Literal["privileged", "baseline", "restricted"]

BASELINE_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
"""Capabilities that ``baseline`` lets a container add
(https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline)."""


def labels(enforce: Level) -> dict[str, str]:
    """Labels that reject pods below ``enforce``; warnings and the audit log report those below ``restricted``."""
    return {f"{PREFIX}/enforce": enforce, f"{PREFIX}/warn": "restricted", f"{PREFIX}/audit": "restricted"}


def namespace(name: str, enforce: Level, more: JsonObject | None = None) -> JsonObject:
    """A namespace with these labels, and ``more``."""
    metadata: JsonObject = {"name": name, "labels": {**(more or {}), **labels(enforce)}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def level(models: Iterable[ModelSettings]) -> Level:
    """The level that a namespace of these models can enforce: ``privileged`` if a server needs it, or ``baseline``."""
    exceeds_baseline = any(model.privileged or set(model.capabilities) - BASELINE_CAPABILITIES for model in models)
    return "privileged" if exceeds_baseline else "baseline"
