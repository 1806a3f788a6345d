"""One message with all problems in a stack's settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from llmd_common.problems import BadInput
from llmd_gke import redaction
from llmd_gke.rules.finding import Finding
from llmd_gke.settings import explanations
from llmd_gke.settings.sections import capacity, front_door
from llmd_gke.settings.validation import SettingFinding
from llmd_gke.wording import nearest

LONGEST_LINE = 400
"""Maximum length of one line of a message, characters. The longest lines list allowed values."""
LONGEST_MESSAGE = 2048
"""Maximum size of a whole message, bytes: nobody reads a longer one, and other tools would truncate it."""
LONGEST_REST = 500
"""Bytes reserved for the keys of the findings that do not fit."""


class SettingsError(BadInput):
    """A stack's settings are invalid. ``str()`` is the whole message for the user, with all findings."""

    def __init__(self, stack: str, findings: Iterable[SettingFinding]) -> None:
        self.stack = stack
        self.findings = tuple(findings)
        count = len(self.findings)
        head = f"Pulumi.{redaction.shown_text(stack, longest=60)}.yaml has {count} {_problems(count)}:"
        super().__init__("\n".join([head, *_within(self.findings, LONGEST_MESSAGE - len(head.encode()))]))


def _problems(count: int) -> str:
    return "problem" if count == 1 else "problems"


def _within(findings: Sequence[SettingFinding], limit: int) -> list[str]:
    """Messages for as many findings as fit into ``limit`` bytes, and one with the keys of the others."""
    whole: list[str] = []
    used, place_for_rest = 0, 0
    for text in map(describe, findings):
        used += len(text.encode()) + 1
        if used > limit:
            break
        whole.append(text)
        if used <= limit - LONGEST_REST:
            place_for_rest = len(whole)
    if len(whole) == len(findings):
        return whole
    del whole[place_for_rest:]
    others = findings[len(whole) :]
    keys = ", ".join(dict.fromkeys(redaction.shown_text(one.key, longest=80) for one in others[:20]))
    rest = f"\n  {len(others)} more, shown in full once these are corrected: {keys}"
    while len(rest.encode()) >= LONGEST_REST:
        rest = rest[: len(rest) * 9 // 10].rstrip(".") + "..."
    return [*whole, rest]


def describe(one: SettingFinding) -> str:
    """The message for a finding: key and value, then what is wrong, what is allowed, and the fix.

    Values that look like secrets are masked: messages end up in logs and pull requests.
    """
    finding, name = one.finding, one.key.rsplit(":", 1)[-1].rsplit(".", 1)[-1]
    value = "" if one.value is None else f" = {redaction.shown(one.value, name)}"
    lines = [f"{_line(one.key)}{value}", f"  {_line(finding.problem)}  [{finding.rule}]"]
    if finding.allowed:
        lines.append(f"  allowed: {_line(finding.allowed)}")
    if finding.fix:
        lines.append(f"  fix:     {_line(finding.fix)}")
    return "\n" + "\n".join(f"  {line}" for line in lines)


def _line(text: str) -> str:
    return redaction.shown_text(text, longest=LONGEST_LINE)


def without(one: SettingFinding, secrets: Collection[str]) -> SettingFinding:
    """The finding with each of ``secrets`` masked, wherever it occurs."""

    def clean(text: str) -> str:
        return redaction.without(text, secrets)

    finding = one.finding
    return SettingFinding(
        one.key,
        redaction.without_in(one.value, secrets) if secrets else one.value,
        replace(finding, problem=clean(finding.problem), allowed=clean(finding.allowed), fix=clean(finding.fix)),
    )


def from_pydantic(error: ValidationError, keys: Mapping[str, tuple[str, ...]]) -> Iterable[SettingFinding]:
    """Pydantic's errors as findings. ``keys`` maps the path of a section to the keys that it has."""
    for detail in essential(error):
        yield _setting_finding(detail, keys)


def essential(error: ValidationError) -> list[ErrorDetails]:
    """Pydantic's errors without those that only follow from others: a list with invalid entries is also "too short"."""
    details = [_without_tags(detail) for detail in error.errors()]
    paths = [detail["loc"] for detail in details]
    return [
        detail
        for detail, path in zip(details, paths, strict=True)
        if detail["type"] != "too_short" or not any(len(p) > len(path) and p[: len(path)] == path for p in paths)
    ]


def _without_tags(detail: ErrorDetails) -> ErrorDetails:
    """The error without the steps of its path that name a form of a value, and no key."""
    tags = (capacity.ONE, capacity.SEVERAL, front_door.KEYS, front_door.ISSUER)
    return {**detail, "loc": tuple(step for step in detail["loc"] if step not in tags)}


def key_of(path: tuple[int | str, ...]) -> str:
    """The full configuration key of a path into the settings, e.g. ``llmd-gke:models[0].uri``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else (f".{step}" if text else step)
    return "gcp:project" if text == "project" else f"llmd-gke:{text}"


def _setting_finding(detail: ErrorDetails, keys: Mapping[str, tuple[str, ...]]) -> SettingFinding:
    path = detail["loc"]
    section = ".".join(str(step) for step in path[:-1] if not isinstance(step, int))
    key, kind, value = key_of(path), detail["type"], detail["input"]
    if kind == "missing":
        fix = (
            "pulumi config set gcp:project PROJECT_ID" if key == "gcp:project" else f"add {path[-1]} to the stack file"
        )
        return SettingFinding(key, None, Finding("missing-key", "this setting is missing", fix=fix))
    if kind == "extra_forbidden" and (refusal := _NOT_OFFERED.get((section, str(path[-1])))) is not None:
        return SettingFinding(key, value, Finding("not-offered", *refusal))
    if kind == "extra_forbidden":
        allowed = tuple(key for key in keys.get(section, ()) if (section, key) != ("", "project"))
        near = nearest(str(path[-1]), allowed)
        fix = f"did you mean {near}?" if near else "remove it"
        # The value of a misspelt key is not shown: `tlskey` may contain a private key.
        return SettingFinding(key, None, Finding("unknown-key", "there is no such setting", ", ".join(allowed), fix))
    if kind == "model_type":
        inside = ".".join(str(step) for step in path if not isinstance(step, int))
        problem, allowed, fix = (
            "this must be a map of settings",
            ", ".join(keys.get(inside, ())),
            explanations.capacity_entry(value) if inside.endswith(".capacity") else "one `key: value` per line",
        )
    else:
        problem, allowed, fix = explanations.explain(detail)
    return SettingFinding(key, value, Finding("wrong-value", problem, allowed, fix))


_NOT_OFFERED: Mapping[tuple[str, str], tuple[str, str, str]] = {
    ("models.scaling", "wva"): (
        "KServe's own `scaling` works only through an autoscaler that llm-d has deprecated (ScalingCRDNotFound); this "
        "program makes an autoscaler of its own",
        "minReplicas and maxReplicas of the model",
        "remove wva",
    ),
    **dict.fromkeys(
        [("models.scaling", "minReplicas"), ("models.scaling", "maxReplicas")],
        (
            "the bounds are settings of the model, beside `scaling`",
            "minReplicas and maxReplicas of the model",
            "move it out of scaling",
        ),
    ),
    ("models", "kvCacheOffloading"): (
        "KServe turns this into a GPU-only KV connector, which the TPU backend does not support",
        "",
        "remove it",
    ),
}
"""Settings that users expect but the program does not have, by section and key: problem, what is allowed, fix."""


def below(key: str, parents: Collection[str]) -> bool:
    """Whether ``key`` is one of ``parents``, or below one."""
    separators = (index for index, character in enumerate(key) if character in ".[")
    return key in parents or any(key[:index] in parents for index in separators)
