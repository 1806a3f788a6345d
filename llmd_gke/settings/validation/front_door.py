"""Rules about the front door."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from llmd_gke.rules import callers, cloud_armor
from llmd_gke.rules.finding import Finding
from llmd_gke.settings.sections.front_door import AccessSettings, FrontDoorSettings
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation.cluster import CLOUD_VARIABLE
from llmd_gke.settings.validation.finding_at import SettingFinding, locate, of_each

KEY = "llmd-gke:frontDoor"


def front_door(settings: StackSettings) -> Iterator[SettingFinding]:
    """Checks the callers, and the settings of models that callers rely on."""
    door = settings.front_door
    if door is None:
        return
    yield from _callers(door, settings)
    names: dict[str, tuple[str, ...]] = {}
    positions: dict[str, str] = {}
    for key, model in zip(settings.model_keys, settings.models, strict=True):
        names[model.model_name] = (*names.get(model.model_name, ()), *model.names)
        positions.setdefault(model.model_name, key)
    named = of_each(settings.model_keys, "name", "namespace", "servedModelName", "adapters", "extraArgs")
    for model, finding in callers.unique_names(names):
        yield SettingFinding(f"{positions[model]}.servedModelName", names[model][0], finding, named)
    for key, model in zip(settings.model_keys, settings.models, strict=True):
        if model.at_root:
            finding = Finding(
                "front-door-root",
                "the front door answers at /v1 for all models, and chooses by their names",
                fix="remove atRoot",
            )
            yield SettingFinding(f"{key}.atRoot", True, finding)
        yield from locate(f"{key}.extraArgs", list(model.extra_args), callers.adapter_names(model.extra_args))
    if door.keep_paths:
        finding = Finding(
            "kept-paths",
            "the models' own paths stay open beside the front door, without keys or limits"
            + (", and outside of frontDoor.access" if door.access is not None else ""),
            fix="move the clients to the output baseUrl, then remove keepPaths",
            severity="warning",
        )
        yield SettingFinding(f"{KEY}.keepPaths", True, finding)
    if settings.gateway.exposure == "external" and settings.gateway.tls is None:
        finding = Finding(
            "plain-http",
            "callers' keys and tokens would cross the Internet in plain text: anyone on the way can use them",
            fix="set llmd-gke:gateway.tls",
            severity="warning",
        )
        yield SettingFinding(KEY, None, finding)
    yield from locate(f"{KEY}.redis", door.redis, callers.redis(door.redis))
    if door.access is not None:
        yield from _access(door.access, settings)
    if isinstance(door.identity, str):
        return
    for field, address in (("issuer", door.identity.issuer), ("jwksUri", door.identity.jwks_uri)):
        if not address.startswith("https://"):
            finding = Finding("caller-identity", "this is not an HTTPS address", "https://…", "use the https address")
            yield SettingFinding(f"{KEY}.identity.{field}", address, finding)


def _access(access: AccessSettings, settings: StackSettings) -> Iterator[SettingFinding]:
    key = f"{KEY}.access"
    if not access.uses_cloud_armor and access.iap is None:
        finding = Finding(
            "access-empty",
            "this restricts nothing",
            allowed="ranges, requestsPerMinutePerAddress or iap",
            fix="set one of them, or remove access",
        )
        yield SettingFinding(key, {}, finding, (key,))
        return
    external, https = settings.gateway.exposure == "external", settings.gateway.tls is not None
    supported = cloud_armor.supported(external=external, https=https, iap=access.iap is not None)
    given = access.model_dump(by_alias=True, exclude_defaults=True, mode="json")
    yield from locate(key, given, supported, key, "llmd-gke:gateway")
    for index, finding in cloud_armor.address_ranges(access.ranges):
        yield SettingFinding(f"{key}.ranges[{index}]", access.ranges[index], finding)
    yield from locate(f"{key}.ranges", len(access.ranges), cloud_armor.range_count(len(access.ranges)))
    if (count := access.requests_per_minute_per_address) is not None:
        yield from locate(f"{key}.requestsPerMinutePerAddress", count, cloud_armor.throttle(count))
    if access.iap is not None:
        yield from locate(f"{key}.iap.clientId", access.iap.client_id, cloud_armor.client_id(access.iap.client_id))


def keys(settings: StackSettings, given: Mapping[str, str | None]) -> Iterator[SettingFinding]:
    """Checks callers' keys. ``given``: values by name, ``None`` if unreadable. No finding contains a value."""
    door = settings.front_door
    if door is None:
        return
    if not door.uses_keys:
        if given:
            finding = Finding(
                "caller-identity",
                "callers are identified by tokens, so keys have no effect: Envoy Gateway would require both",
                fix="pulumi config rm llmd-gke:callerKeys, or remove frontDoor.identity",
            )
            yield SettingFinding(callers.KEYS, None, finding)
        return
    for name, finding in callers.caller_keys([caller.name for caller in door.callers], given):
        yield SettingFinding(f"{callers.KEYS}.{name}", None, finding)


def stand_ins(present: bool) -> Iterator[SettingFinding]:
    """Checks that publicly known stand-in keys are only used on local clouds."""
    if present and not os.environ.get(CLOUD_VARIABLE):
        finding = Finding(
            "caller-key",
            "these keys are only for the local stand-ins on this machine: everybody can read them in this repository",
            allowed="make up, make preview, or plain pulumi inside `make shell`",
            fix="pulumi config rm llmd-gke:callerKeys, then llmd-gke key new CALLER for each caller",
        )
        yield SettingFinding(callers.KEYS, None, finding)


def _callers(door: FrontDoorSettings, settings: StackSettings) -> Iterator[SettingFinding]:
    models, model_names = [model.model_name for model in settings.models], of_each(settings.model_keys, "name")
    seen: set[str] = set()
    for index, caller in enumerate(door.callers):
        key = f"{KEY}.callers[{index}]"
        yield from locate(f"{key}.name", caller.name, callers.caller_name(caller.name))
        if caller.name in seen:
            finding = Finding("unique-name", f"another caller has the name {caller.name}", fix="use a unique name")
            yield SettingFinding(f"{key}.name", caller.name, finding, (f"{KEY}.callers",))
        seen.add(caller.name)
        for position, model in enumerate(caller.models):
            if model not in models:
                finding = Finding(
                    "caller-model",
                    f"there is no model {model}",
                    allowed=", ".join(dict.fromkeys(models)),
                    fix=f"models: [{models[0]}]",
                )
                yield SettingFinding(f"{key}.models[{position}]", model, finding, model_names)
    if door.has_priorities:
        spaces, keys = [model.namespace for model in settings.models], of_each(settings.model_keys, "namespace")
        for index, key in enumerate(keys):
            findings = callers.one_pool(spaces[index], spaces[:index])
            yield from locate(key, spaces[index], findings, KEY, *keys)
    count = sum(caller.limits for caller in door.callers)
    yield from locate(f"{KEY}.callers", len(door.callers), callers.limits(count), f"{KEY}.callers")
    for key, model in zip(model_names, models, strict=True):
        if not door.callers_of(model):
            finding = Finding("caller-model", "no caller may use this model", fix="add it to the models of a caller")
            yield SettingFinding(key, model, finding, (f"{KEY}.callers",))
