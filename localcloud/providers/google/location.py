"""Location and labels of a resource: from its own inputs, or else from the provider's settings."""

from __future__ import annotations

import json
import re
from typing import cast

from localcloud.product import region_of
from localcloud.providers.google.registry import without_defaults
from localcloud.providers.google.resource_type import ResourceType, TargetResource
from localcloud.providers.protocol.rules import ResourceSubject
from localcloud.providers.protocol.values import JsonObject, JsonValue, merge, text

_SLOT = re.compile(r"{(\w+)}")


def slots(kind: ResourceType) -> list[str]:
    """The parts of a type's id."""
    return _SLOT.findall(kind.id)


def place_of(config: JsonObject, inputs: JsonObject) -> dict[str, str]:
    """Project, region, zone and location: the resource's, else the provider's (GetProject, GetLocation)."""
    zone = text(config, "zone")
    region = text(inputs, "region").rsplit("/", 1)[-1] or text(config, "region") or (region_of(zone) if zone else "")
    project = text(inputs, "project").removeprefix("projects/") or text(config, "project")
    return {
        "project": project,
        "region": region,
        "zone": zone,
        "location": text(inputs, "location") or zone or region,
    }


def target_of(config: JsonObject, subject: ResourceSubject, kind: ResourceType, inputs: JsonObject) -> TargetResource:
    """The resource as Google sees it, with its id."""
    location = place_of(config, inputs)
    filled = {
        slot: text(inputs, slot).rsplit("/", 1)[-1] if slot in ("router", "cluster") else text(inputs, slot)
        for slot in slots(kind)
    }
    ident = subject.id or kind.id.format(**filled | location)
    return TargetResource(subject.type, ident, inputs, location)


def provider_labels(config: JsonObject) -> dict[str, str]:
    """The provider's ``defaultLabels``."""
    given = config.get("defaultLabels")
    parsed: object = json.loads(given) if isinstance(given, str) and given.startswith("{") else given
    return {str(k): str(v) for k, v in cast(JsonObject, parsed).items()} if isinstance(parsed, dict) else {}


def labels_of(config: JsonObject, kind: ResourceType, inputs: JsonObject) -> dict[str, dict[str, JsonValue]]:
    """Labels of the resource and the provider; the last is pulumi-gcp's own (``addPulumiAttributionLabel``)."""
    if not kind.labels:
        return {}
    own = inputs.get(kind.labels)
    merged = {**provider_labels(config), **(own if isinstance(own, dict) else {})}
    return {"pulumiLabels": dict(merged), "effectiveLabels": {**merged, "goog-pulumi-provisioned": "true"}}


def outputs_of(config: JsonObject, kind: ResourceType, target: TargetResource, computed: JsonObject) -> JsonObject:
    """Inputs, what Google computed, place and labels together."""
    own = [slot for slot in slots(kind) if slot in ("project", "region", "location")]
    own_values: JsonObject = {slot: target.scope[slot] for slot in {*own, "project"} if target.scope.get(slot)}
    outputs = merge(merge(computed, own_values | kind.known_outputs(target)), without_defaults(target.inputs))
    return {**outputs, **labels_of(config, kind, target.inputs)}
