"""What the engine saw of a provider, from its event log, in a form in which two providers can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llmd_common.pulumi_signatures import UNKNOWN

KUBERNETES = "kubernetes:"
Event = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One step of a resource: what was done, what differed and how, which outputs were known.

    ``differences``: path to kind (``update``, ``add-replace``, ...). ``outputs``: top-level output to ``known`` or
    ``unknown`` (somewhere inside).
    """

    op: str
    differences: Mapping[str, str] = field(default_factory=dict[str, str])
    outputs: Mapping[str, str] = field(default_factory=dict[str, str])


def steps(events: Iterable[Event]) -> dict[str, list[Step]]:
    """The steps of every Kubernetes resource and of the provider itself, by the resource's name, in their order."""
    result: dict[str, list[Step]] = {}
    planned: dict[tuple[str, str], Mapping[str, str]] = {}
    for event in events:
        if pre := event.get("resourcePreEvent"):
            about = pre["metadata"]
            planned[about["urn"], about["op"]] = differences(about)
        out = event.get("resOutputsEvent") or event.get("resOpFailedEvent")
        if out and _counts(out["metadata"]):
            about = out["metadata"]
            step = Step(about["op"], planned.get((about["urn"], about["op"]), {}), outputs(about.get("new")))
            result.setdefault(about["urn"].rpartition("::")[2], []).append(step)
    return result


def _counts(about: Mapping[str, Any]) -> bool:
    return about["type"].startswith(KUBERNETES) or about["type"] == "pulumi:providers:kubernetes"


def differences(about: Mapping[str, Any]) -> dict[str, str]:
    """The paths that differ, with the kind of the difference; where the provider names none, its plain list."""
    detailed = about.get("detailedDiff") or {}
    if detailed:
        return {path: str(entry.get("diffKind", entry)) for path, entry in detailed.items()}
    return dict.fromkeys(about.get("diffs") or [], "")


def outputs(state: Mapping[str, Any] | None) -> dict[str, str]:
    """Which outputs are there, and which of them are known."""
    values = (state or {}).get("outputs") or {}
    return {key: "unknown" if _unknown(value) else "known" for key, value in values.items() if not key.startswith("__")}


def _unknown(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(_unknown(item) for item in value)
    return value == UNKNOWN


def compare(standin: Mapping[str, list[Step]], real: Mapping[str, list[Step]]) -> list[str]:
    """Every difference, one a line: ``name what: stand-in -> real provider``."""
    lines: list[str] = []
    for name in sorted({*standin, *real}):
        ours, theirs = standin.get(name, []), real.get(name, [])
        if [step.op for step in ours] != [step.op for step in theirs]:
            lines.append(f"{name} steps: {[step.op for step in ours]} -> {[step.op for step in theirs]}")
            continue
        for one, other in zip(ours, theirs, strict=True):
            for what in ("differences", "outputs"):
                mine, its = getattr(one, what), getattr(other, what)
                lines += [
                    f"{name} {one.op} {what} {key}: {mine.get(key, '-')} -> {its.get(key, '-')}"
                    for key in sorted({*mine, *its})
                    if mine.get(key) != its.get(key)
                ]
    return lines
