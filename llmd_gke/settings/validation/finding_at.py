"""Findings together with the key that they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from llmd_gke.rules.finding import Finding


@dataclass(frozen=True)
class SettingFinding:
    """A finding and the key it is about, e.g. ``llmd-gke:pools[0].topology``, with the offending value.

    ``needs`` are the further keys that the rule compares: where one of them, or a key below it, has no valid value, the
    rule cannot judge.
    """

    key: str
    value: object
    finding: Finding
    needs: tuple[str, ...] = ()


def locate(key: str, value: object, findings: Iterator[Finding], *needs: str) -> Iterator[SettingFinding]:
    """The findings, each with the configuration key and the value that it is about, and what else its rule compares."""
    for finding in findings:
        yield SettingFinding(key, value, finding, needs)


def of_each(keys: Iterable[str], *names: str) -> tuple[str, ...]:
    """The keys of these settings in every one of some pools or models."""
    return tuple(f"{key}.{name}" for key in keys for name in names)
