"""Labels of Pod Security admission (https://kubernetes.io/docs/concepts/security/pod-security-admission/)."""

from __future__ import annotations

from typing import Literal

PREFIX = "pod-security.kubernetes.io"

Level = Literal["baseline", "restricted"]


def labels(enforce: Level) -> dict[str, str]:
    """Pods below ``enforce`` are refused. Those that are not ``restricted`` are named in warnings and the audit log."""
    return {f"{PREFIX}/enforce": enforce, f"{PREFIX}/warn": "restricted", f"{PREFIX}/audit": "restricted"}
