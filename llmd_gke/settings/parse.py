"""From raw configuration to checked settings."""

from __future__ import annotations

import copy
import re
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from pydantic import BaseModel, ValidationError

from llmd_gke import redaction
from llmd_gke.rules import notification
from llmd_gke.rules.finding import Finding
from llmd_gke.settings import validation
from llmd_gke.settings.errors import SettingsError, essential, from_pydantic, key_of, without
from llmd_gke.settings.mirror import mirrored
from llmd_gke.settings.plain import Unreadable, plain, unfit
from llmd_gke.settings.secret_keys import (
    CALLER_KEYS,
    NAMESPACE,
    SECRETS,
    caller_keys,
    holds_stand_ins,
    is_plain,
    is_secret_key,
)
from llmd_gke.settings.sections import StackSettings
from llmd_gke.settings.validation import SettingFinding, front_door
from llmd_gke.settings.wording import nearest


@dataclass(frozen=True)
class Checked:
    """Settings without errors, and the warnings that remain."""

    settings: StackSettings
    warnings: tuple[SettingFinding, ...]


def parse(
    raw: Mapping[str, object],
    stack: str,
    secrets: Sequence[str] | None = None,
    *,
    encrypted: Collection[str] = (),
    keys: object = None,
) -> Checked:
    """Checks a stack's configuration and reports everything that is wrong with it at once.

    ``raw`` maps full keys (``gcp:project``, ``llmd-gke:cluster``) to values as YAML or Pulumi give them. ``secrets``
    names the secrets that the stack has; with ``None``, missing secrets are not reported. ``encrypted`` are the full
    keys whose values the stack file encrypts: no message repeats those values. ``keys`` is the value of
    ``callerKeys``, ``None`` if there is none. Raises :class:`SettingsError`.
    """
    try:
        checked = _parse(raw, stack, secrets, keys)
    except SettingsError as error:
        raise SettingsError(stack, _without_secrets(error.findings, raw, encrypted)) from None
    return Checked(mirrored(checked.settings), tuple(_without_secrets(checked.warnings, raw, encrypted)))


def _without_secrets(
    findings: Iterable[SettingFinding], raw: Mapping[str, object], encrypted: Collection[str]
) -> list[SettingFinding]:
    secret_keys = [key for key in raw if key in encrypted or is_secret_key(key)]
    texts = {text for key in secret_keys for text in redaction.texts_in(raw[key])} | set(
        redaction.secrets_in(_ours(raw))
    )
    return [without(replace(one, value=None) if _below(one.key, encrypted) else one, texts) for one in findings]


def _below(key: str, parents: Collection[str]) -> bool:
    """Whether ``key`` is one of ``parents``, or below one."""
    separators = (index for index, character in enumerate(key) if character in ".[")
    return key in parents or any(key[:index] in parents for index in separators)


def _parse(raw: Mapping[str, object], stack: str, secrets: Sequence[str] | None, keys: object) -> Checked:
    try:
        ours = plain(_ours(raw))
    except Unreadable as unreadable:
        raise SettingsError(stack, [SettingFinding(key_of(unreadable.path), None, unreadable.finding)]) from None
    foreign = list(_foreign(raw))
    findings = [*foreign, *(SettingFinding(key_of(path), value, finding) for path, value, finding in unfit(ours))]
    try:
        settings = StackSettings.model_validate(ours, by_alias=True, by_name=False)
    except ValidationError as error:
        findings.extend(from_pydantic(error, known_keys(StackSettings)))
        findings.extend(_findings_in_valid_rest(ours, error))
        # A section under a misspelt namespace is there: saying that it is missing would hide the key to correct.
        there = {f"{NAMESPACE}:{one.key.rpartition(':')[2]}" for one in foreign}
        raise SettingsError(stack, _once(one for one in findings if one.key not in there)) from None
    findings.extend(validation.check(settings))
    if keys is not None:
        callers = () if settings.front_door is None else [caller.name for caller in settings.front_door.callers]
        if (given := caller_keys(keys, callers)) is not None:
            findings.extend(front_door.keys(settings, given))
        findings.extend(front_door.stand_ins(holds_stand_ins(keys)))
    if secrets is not None:
        findings.extend(_missing_secrets(settings, secrets))
    errors = _once(one for one in findings if one.finding.severity == "error")
    if errors:
        raise SettingsError(stack, errors)
    return Checked(settings, tuple(one for one in findings if one.finding.severity == "warning"))


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


def _once(findings: Iterable[SettingFinding]) -> list[SettingFinding]:
    """The findings without those that follow from invisible characters: such a text violates other rules, too."""
    all_of_them = list(findings)
    hidden = {one.key for one in all_of_them if one.finding.rule == "characters"}
    return [one for one in all_of_them if one.finding.rule == "characters" or one.key not in hidden]


def plain_secrets(values: Mapping[str, object], encrypted: Collection[str]) -> list[SettingFinding]:
    """Findings about secrets whose values are not encrypted, and thus readable in the repository and in the state."""
    return [
        SettingFinding(
            key,
            None,
            Finding(
                "plain-secret",
                "the stack file contains a secret in plain text; treat it as leaked to everyone who can read the "
                "repository",
                fix=f"remove the line, create a new secret, and set it with `pulumi config set --secret {key}`",
            ),
        )
        for key, value in values.items()
        if is_secret_key(key) and is_plain(value) and (key not in encrypted or isinstance(value, Mapping))
    ]


def _foreign(raw: Mapping[str, object]) -> Iterator[SettingFinding]:
    """Findings about keys without a namespace, or in a misspelt one: no program reads them."""
    keys = (*known_keys(StackSettings)[""], *SECRETS)
    for key in raw:
        namespace, colon, name = key.partition(":")
        if not colon and key in keys:
            fix = f"did you mean {NAMESPACE}:{key}?"
            yield SettingFinding(key, None, Finding("unknown-key", "this key has no namespace", fix=fix))
        elif namespace != NAMESPACE and name in keys and nearest(namespace.lower(), (NAMESPACE,), 0.75):
            fix = f"did you mean {NAMESPACE}:{name}?"
            yield SettingFinding(key, None, Finding("unknown-key", "no program reads this namespace", fix=fix))


def required_secrets(settings: StackSettings) -> list[str]:
    """Full keys of the secrets that this stack needs."""
    return list(_reasons(settings))


_KEY = f"pulumi config set --secret --path '{NAMESPACE}:{CALLER_KEYS}[\"CALLER\"]' (then paste a key of 32 characters)"


def _reasons(settings: StackSettings) -> dict[str, tuple[str, str]]:
    """The secrets that the stack needs: full key to the reason and a description of the value to paste."""
    reasons: dict[str, tuple[str, str]] = {}
    gated = [model.name for model in settings.models if model.needs_token]
    if gated:
        reasons["hfToken"] = (
            f"the weights of {', '.join(gated)} require an accepted licence",
            "a Hugging Face token of an account that accepted the licence",
        )
    private = [model.name for model in settings.models if model.private_image]
    if private:
        reasons["pullSecret"] = (
            f"privateImage of {', '.join(private)} requires it",
            "the contents of a .dockerconfigjson",
        )
    if settings.gateway.tls is not None and settings.gateway.tls.from_config:
        reasons["tlsCertificate"] = (
            "llmd-gke:gateway.tls.fromConfig requires it",
            "the certificate chain in PEM format",
        )
        reasons["tlsKey"] = ("llmd-gke:gateway.tls.fromConfig requires it", "the private key in PEM format")
    if settings.front_door is not None and settings.front_door.uses_keys:
        callers = ", ".join(caller.name for caller in settings.front_door.callers)
        reasons[CALLER_KEYS] = (f"llmd-gke:frontDoor needs a key for each caller ({callers})", _KEY)
    for index, channel in enumerate(settings.monitoring.notify):
        for setting, name in channel.secrets.items():
            why = f"llmd-gke:monitoring.notify[{index}].{setting} names it"
            reasons.setdefault(name, (why, notification.PASTE[notification.SECRET_OF[setting]]))
    return {f"{NAMESPACE}:{key}": reason for key, reason in reasons.items()}


def _missing_secrets(settings: StackSettings, secrets: Sequence[str]) -> list[SettingFinding]:
    return [
        SettingFinding(
            key,
            None,
            Finding(
                "missing-secret",
                why,
                fix=what if what == _KEY else f"pulumi config set --secret {key} (then paste {what})",
            ),
        )
        for key, (why, what) in _reasons(settings).items()
        if key not in secrets
    ]


def _findings_in_valid_rest(ours: Mapping[str, object], error: ValidationError) -> list[SettingFinding]:
    """Findings of the rules about the valid rest of the settings, so that one run reports everything.

    Invalid values, as in ``error``, are replaced or removed first.
    """
    rest = copy.deepcopy(dict(ours))
    aside = [detail["loc"] for detail in essential(error)]
    for path in aside:
        _replace_invalid(rest, path)
    try:
        settings = StackSettings.model_validate({**_PLACEHOLDERS, **rest}, by_alias=True, by_name=False)
    except ValidationError:
        return []
    keys = {key_of(path) for path in aside} | {key_of((section,)) for section in _PLACEHOLDERS if section not in rest}
    return [
        one
        for one in validation.check(settings)
        if one.finding.severity == "error"
        and not _below(one.key, keys)
        and not any(_depends_on(one.finding.rule, key) for key in keys)
    ]


def _replace_invalid(settings: dict[str, object], path: tuple[int | str, ...]) -> None:
    """Replaces the value at a path by one that fits, or removes it, so that its default holds."""
    parent: object = settings
    for step in path[:-1]:
        parent = cast("Mapping[int | str, object]", parent)[step]
    section, last = path[0], path[-1]
    example = _PLACEHOLDERS.get(str(section))
    if isinstance(example, list) and len(path) > 1:
        example = cast("list[object]", example)[0]
    if isinstance(last, str) and len(path) > 1 and isinstance(example, Mapping):
        example = cast("Mapping[str, object]", example).get(str(last))
    if isinstance(parent, dict):
        table = cast("dict[int | str, object]", parent)
        table.pop(last, None)
        if example is not None:
            table[last] = example
    elif isinstance(parent, list) and isinstance(last, int):
        cast("list[object]", parent)[last] = example


_PLACEHOLDERS: dict[str, object] = {
    "project": "some-project",
    "cluster": {"name": "some", "zone": "europe-west4-a"},
    "tpuPools": [{"name": "some", "machineType": "ct6e-standard-4t", "topology": "2x2", "maxNodes": 1000}],
    "models": [{"name": "some", "uri": "hf://Qwen/Qwen3-4B", "pool": "some"}],
}
_POOL = r"tpuPools(\[\d+\](\.({}))?)?"
_MODEL = r"models(\[\d+\](\.({}))?)?"
_ANY_POOL_OR_MODEL = r"(tpuPools|models).*"
_DEPENDS_ON: Mapping[str, str] = {
    "tpu-topology": _POOL.format("machineType"),
    "tpu-zone": _POOL.format("machineType"),
    "tpu-pool-region": r"cluster(\.zone)?",
    "tpu-gke-version": _POOL.format("machineType"),
    "tpu-reservation": _POOL.format(r"capacity|reservation(\..*)?"),
    "tpu-flex-start": _POOL.format("capacity|maxRunHours|machineType|topology"),
    "tpu-node-count": _POOL.format("machineType|topology|minNodes|maxNodes"),
    "tpu-capacity": r"cluster(\.zone)?|" + _POOL.format("machineType|zone"),
    "tpu-pool-size": _ANY_POOL_OR_MODEL,
    "tpu-update-room": _ANY_POOL_OR_MODEL,
    "unique-name": _ANY_POOL_OR_MODEL,
    "model-pool": _POOL.format("name"),
    "model-multi-host": _ANY_POOL_OR_MODEL,
    "model-size": _ANY_POOL_OR_MODEL,
    "model-disk": _ANY_POOL_OR_MODEL,
    "unused-bucket": r"(storage|models).*",
    "scheduler-plugin": _MODEL.format("prefixCaching|scheduler.*"),
    "tensor-parallel": _ANY_POOL_OR_MODEL,
    "pipeline-parallel": _ANY_POOL_OR_MODEL,
    "multi-host-cache": _ANY_POOL_OR_MODEL,
    "route-rules": _MODEL.format("paths.*|atRoot"),
    "root-model": _MODEL.format("name"),
    "control-plane-access": r"cluster(\.authorizedNetworks.*)?",
    "system-zone": r"cluster(\.(zone|systemZone))?",
    "kms-key": r"cluster(\.zone)?",
    "system-pool": r"cluster\.systemPool.*",
    "maintenance-window": r"cluster\.maintenance.*",
    "maintenance-exclusion": r"cluster\.maintenance.*",
    "node-count": r"cluster(\.systemPool.*)?",
    "network-overlap": r"network.*",
    "network-existing": r"network.*",
    "network-shared-vpc": r"network.*|gcp:project",
    "egress-combination": r"network.*",
    "egress-bucket": r"network.*|" + _ANY_POOL_OR_MODEL,
    "plain-http": r"gateway(\.allowPlainHttp|\.tls.*)?",
    "gateway-certificate": r"gateway(\.tls.*)?",
    "gateway-combination": r"gateway.*",
    "caller-model": r"frontDoor.*|" + _MODEL.format("name"),
    "caller-priority": r"frontDoor.*|" + _MODEL.format("namespace"),
    "caller-limits": r"frontDoor.*",
    "caller-key": r"frontDoor.*",
    "served-name": _MODEL.format("name|namespace|servedModelName|extraArgs.*"),
    "front-door-root": r"frontDoor.*",
    "forced-usage": r"frontDoor.*|" + _MODEL.format("extraArgs.*"),
}
"""Rules that compare several values, each with the keys (a pattern) without which it cannot judge."""


def _depends_on(rule: str, invalid: str) -> bool:
    pattern = _DEPENDS_ON.get(rule)
    return pattern is not None and re.fullmatch(pattern, invalid.removeprefix(f"{NAMESPACE}:")) is not None


def known_keys(section_type: type[BaseModel], prefix: str = "") -> dict[str, tuple[str, ...]]:
    """Every section of the settings with the keys it has, e.g. ``{"cluster": ("name", "zone", …)}``."""
    keys: dict[str, tuple[str, ...]] = {}
    names: list[str] = []
    for name, field in section_type.model_fields.items():
        alias = field.alias or name
        names.append(alias)
        for inner in _models_in(field.annotation):
            keys.update(known_keys(inner, f"{prefix}.{alias}" if prefix else alias))
    keys[prefix] = tuple(names)
    return keys


def _models_in(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [model for inner in typing.get_args(annotation) for model in _models_in(inner)]
