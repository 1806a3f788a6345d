"""Rules about versions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmd_gke.rules.finding import Finding

VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:-gke\.(\d+))?")


def version_of(text: str) -> tuple[int, ...] | None:
    """A version as numbers: ``v0.20.0``, ``1.34``, ``1.34.0-gke.1626000``; ``None`` for other text."""
    match = VERSION.match(text)
    return tuple(int(part or 0) for part in match.groups()) if match else None


def is_older(version: str, floor: str) -> bool:
    """Whether a GKE version is older than ``floor``. A minor version (``1.34``) stands for its newest patch."""
    current, least = version_of(version), version_of(floor)
    if current is None or least is None:
        return False
    exact = version.count(".") > 1
    return current < least if exact else current[:2] < least[:2]


def gke(version: str, floor: str, key: str) -> Iterator[Finding]:
    """The control plane is new enough to provide the InferencePool CRD. ``key`` is the name of the caller's field."""
    if is_older(version, floor):
        yield Finding(
            "cluster-version",
            f"{key} {version} is older than {floor}, the first version in which GKE installs the InferencePool v1 CRD",
            allowed=f"{floor} or newer",
            fix=f"set {key} to {floor} or newer, or leave it to the release channel",
        )
