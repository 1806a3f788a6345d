"""From raw configuration to checked settings."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pydantic import BaseModel, ValidationError

from llmd_gke import redaction
from llmd_gke.rules.finding import Finding
from llmd_gke.settings import validation
from llmd_gke.settings.errors import SettingsError, below, from_pydantic, key_of, without
from llmd_gke.settings.mirror import mirrored
from llmd_gke.settings.partial_check import findings_in_valid_rest
from llmd_gke.settings.plain import Unreadable, plain, unfit
from llmd_gke.settings.secret_keys import NAMESPACE, SECRETS, caller_keys, holds_stand_ins, is_secret_key
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.stack_secrets import missing_secrets
from llmd_gke.settings.validation import SettingFinding, front_door
from llmd_gke.wording import nearest


@dataclass(frozen=True)
class Checked:
    """Settings without errors, the warnings that remain, and the keys of the front door's callers by name."""

    settings: StackSettings
    warnings: tuple[SettingFinding, ...]
    caller_keys: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str], repr=False)


def parse(
    raw: Mapping[str, object],
    stack: str,
    secrets: Sequence[str] | None = None,
    *,
    encrypted: Collection[str] = (),
    keys: object = None,
) -> Checked:
    """Checks a stack's configuration and reports all of its problems at once.

    ``raw`` maps full keys (``gcp:project``, ``llmd-gke:cluster``) to values as YAML or Pulumi give them. ``secrets``
    lists the secrets that the stack has; with ``None``, missing secrets are not reported. ``encrypted`` are the full
    keys whose values the stack file encrypts: no message repeats those values. ``keys`` is the value of ``callerKeys``,
    ``None`` if there is none. Raises :class:`SettingsError`.
    """
    try:
        checked = _parse(raw, stack, secrets, keys)
    except SettingsError as error:
        raise SettingsError(stack, _without_secrets(error.findings, raw, encrypted)) from None
    warnings = tuple(_without_secrets(checked.warnings, raw, encrypted))
    return replace(checked, settings=mirrored(checked.settings), warnings=warnings)


def _without_secrets(
    findings: Iterable[SettingFinding], raw: Mapping[str, object], encrypted: Collection[str]
) -> list[SettingFinding]:
    secret_keys = [key for key in raw if key in encrypted or is_secret_key(key)]
    texts = {text for key in secret_keys for text in redaction.texts_in(raw[key])} | set(
        redaction.secrets_in(_ours(raw))
    )
    return [without(replace(one, value=None) if below(one.key, encrypted) else one, texts) for one in findings]


def _parse(raw: Mapping[str, object], stack: str, secrets: Sequence[str] | None, keys: object) -> Checked:
    try:
        ours = plain(_ours(raw))
    except Unreadable as unreadable:
        raise SettingsError(stack, [SettingFinding(key_of(unreadable.path), None, unreadable.finding)]) from None
    foreign = list(_foreign(raw))
    findings = [
        *foreign,
        *_renamed(ours),
        *(SettingFinding(key_of(path), value, finding) for path, value, finding in unfit(ours)),
    ]
    try:
        settings = StackSettings.model_validate(ours, by_alias=True, by_name=False)
    except ValidationError as error:
        findings.extend(from_pydantic(error, known_keys(StackSettings)))
        findings.extend(findings_in_valid_rest(ours, error))
        # A section under a misspelt namespace exists: reporting it as missing would hide the key to correct.
        there = {f"{NAMESPACE}:{one.key.rpartition(':')[2]}" for one in foreign}
        raise SettingsError(stack, _once(one for one in findings if one.key not in there and _stops(one))) from None
    findings.extend(validation.check(settings))
    given: Mapping[str, str | None] | None = None
    if keys is not None:
        callers = () if settings.front_door is None else [caller.name for caller in settings.front_door.callers]
        if (given := caller_keys(keys, callers)) is not None:
            findings.extend(front_door.keys(settings, given))
        findings.extend(front_door.stand_ins(holds_stand_ins(keys)))
    if secrets is not None:
        findings.extend(missing_secrets(settings, secrets))
    errors = _once(filter(_stops, findings))
    if errors:
        raise SettingsError(stack, errors)
    warnings = tuple(one for one in findings if one.finding.severity == "warning")
    return Checked(settings, warnings, {name: key or "" for name, key in (given or {}).items()})


def _ours(raw: Mapping[str, object]) -> dict[str, object]:
    """The settings of our namespace without its secrets, and the project."""
    ours = {
        key.removeprefix(f"{NAMESPACE}:"): value
        for key, value in raw.items()
        if key.startswith(f"{NAMESPACE}:") and not is_secret_key(key)
    }
    if "gcp:project" in raw:
        ours["project"] = raw["gcp:project"]
    return ours


def _stops(found: SettingFinding) -> bool:
    return found.finding.severity == "error"


FORMER_KEYS = {"tpuPools": "pools"}
"""Sections by their former names, and their names now."""


def _renamed(ours: dict[str, object]) -> Iterator[SettingFinding]:
    """Moves sections under former names to their names now, with a finding about each: an error beside the new one."""
    for former, name in FORMER_KEYS.items():
        if former in ours:
            both = name in ours
            problem = f"its name is now {name}" + (", which this stack has, too" if both else "")
            fix = f"move its entries to {NAMESPACE}:{name}" if both else f"rename it to {NAMESPACE}:{name}"
            finding = Finding("renamed-key", problem, fix=fix, severity="error" if both else "warning")
            yield SettingFinding(f"{NAMESPACE}:{former}", None, finding)
            ours.setdefault(name, ours.pop(former))


def _once(findings: Iterable[SettingFinding]) -> list[SettingFinding]:
    """The findings without those that follow from invisible characters: such a text violates other rules, too."""
    all_of_them = list(findings)
    hidden = {one.key for one in all_of_them if one.finding.rule == "characters"}
    return [one for one in all_of_them if one.finding.rule == "characters" or one.key not in hidden]


def _foreign(raw: Mapping[str, object]) -> Iterator[SettingFinding]:
    """Findings about keys without a namespace, or in a misspelt one: no program reads them."""
    keys = (*known_keys(StackSettings)[""], *SECRETS)
    for key in raw:
        namespace, colon, name = key.partition(":")
        if key == NAMESPACE:
            fix = f"{NAMESPACE}:cluster for the key cluster below it, and so on"
            yield SettingFinding(key, None, Finding("unknown-key", "settings below this key are not read", fix=fix))
        elif not colon and key in keys:
            fix = f"did you mean {NAMESPACE}:{key}?"
            yield SettingFinding(key, None, Finding("unknown-key", "this key has no namespace", fix=fix))
        elif namespace != NAMESPACE and name in keys and nearest(namespace.lower(), (NAMESPACE,), 0.75):
            fix = f"did you mean {NAMESPACE}:{name}?"
            yield SettingFinding(key, None, Finding("unknown-key", "no program reads this namespace", fix=fix))


@cache
def known_keys(section_type: type[BaseModel], prefix: str = "") -> Mapping[str, tuple[str, ...]]:
    """Every section of the settings with the keys it has, e.g. ``{"cluster": ("name", "zone", …)}``."""
    keys: dict[str, tuple[str, ...]] = {}
    names: list[str] = []
    for name, field in section_type.model_fields.items():
        alias = field.alias or name
        names.append(alias)
        for inner in models_in(field.annotation):
            keys.update(known_keys(inner, f"{prefix}.{alias}" if prefix else alias))
    keys[prefix] = tuple(names)
    return keys


def models_in(annotation: object) -> list[type[BaseModel]]:
    """The sections in a field's type."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [model for inner in typing.get_args(annotation) for model in models_in(inner)]
