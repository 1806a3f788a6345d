"""Rules about the valid part of settings that are partly invalid, so that one run reports everything."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import cast

from pydantic import ValidationError

from llmd_gke.settings import validation
from llmd_gke.settings.errors import below, essential, key_of
from llmd_gke.settings.secret_keys import NAMESPACE
from llmd_gke.settings.sections import StackSettings
from llmd_gke.settings.validation import SettingFinding


def findings_in_valid_rest(ours: Mapping[str, object], error: ValidationError) -> list[SettingFinding]:
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
        and not below(one.key, keys)
        and not any(_depends_on(one.finding.rule, key) for key in keys)
    ]


def _replace_invalid(settings: dict[str, object], path: tuple[int | str, ...]) -> None:
    """Replaces the value at a path by a valid one, or removes it, so that its default applies."""
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
    "tpu-early-hosts": _POOL.format(r"capacity(\..*)?|machineType|topology|maxNodes|earlyHosts"),
    "tpu-node-count": _POOL.format("machineType|topology|minNodes|maxNodes"),
    "tpu-capacity": r"cluster(\.zone)?|" + _POOL.format("machineType|zone"),
    "capacity-room": _POOL.format("capacity.*|maxNodes"),
    "tpu-pool-size": _ANY_POOL_OR_MODEL,
    "tpu-update-room": _ANY_POOL_OR_MODEL,
    "replica-bounds": _MODEL.format("replicas|minReplicas|maxReplicas"),
    "replica-threshold": _MODEL.format(r"maxNumSeqs|scaling(\..*)?"),
    "budget": r"budget(\..*)?",
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
    "open-gateway": r"(frontDoor|gateway).*",
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
