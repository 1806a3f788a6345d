"""Findings together with the key that they are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from llmd_gke.rules.finding import Finding


@dataclass(frozen=True)
class SettingFinding:
    """A finding and the key it is about, e.g. ``llmd-gke:tpuPools[0].topology``, with the offending value."""

    key: str
    value: object
    finding: Finding


def locate(key: str, value: object, findings: Iterator[Finding]) -> Iterator[SettingFinding]:
    """The findings, each with the configuration key and the value that it is about."""
    for finding in findings:
        yield SettingFinding(key, value, finding)
