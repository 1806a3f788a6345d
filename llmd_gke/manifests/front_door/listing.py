"""``GET /v1/models``: each caller's list of models, answered by the door's Lua script from the settings.

AI Gateway would list all models to everyone. Its filter is off on routes that it did not generate
(envoyproxy/ai-gateway v1.0.0 ``isRouteGeneratedByAIGateway``), and the Gateway's own policies, with the check of keys
and the script, apply to every route. So the path has a route of its own, which wins as an exact match.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from llmd_gke.catalog import front_door
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests.gateway import GATEWAY_API
from llmd_gke.settings import FrontDoorSettings, ModelSettings

PATH = "/v1/models"
NAME = "models"


def answer(caller: str, door: FrontDoorSettings, models: Sequence[ModelSettings]) -> str:
    """The list of a caller in OpenAI's form, as JSON. A model that is stopped is not in it.

    ``created`` is 0: the settings have no such time, and one that changes would change the script on every update. What
    several versions of a model answer to is in it once.
    """
    owners = {
        name: f"{model.model_namespace}/{model.model_name}"
        for model in models
        if not model.stopped and any(allowed.name == caller for allowed in door.callers_of(model.model_name))
        for name in model.names
    }
    data: list[Json] = [
        {"id": name, "object": "model", "created": 0, "owned_by": owner} for name, owner in owners.items()
    ]
    return json.dumps({"object": "list", "data": data}, separators=(",", ":"))


def lua(door: FrontDoorSettings, models: Sequence[ModelSettings]) -> str:
    """Lines of the script's request function, after it has set the caller's header.

    JSON of a JSON text is a string of Lua, too: it escapes only quotation marks and backslashes. A caller that is not
    in the table gets the answer of :func:`refusal`.
    """
    entries = ", ".join(
        f"[{json.dumps(caller.name)}] = {json.dumps(answer(caller.name, door, models))}" for caller in door.callers
    )
    return f"""
  if (handle:headers():get(":path") or ""):match("^[^?]*") == "{PATH}" then
    local lists = {{{entries}}}
    local list = lists[handle:headers():get("{front_door.CALLER_HEADER}") or ""]
    if list then
      handle:respond({{[":status"] = "200", ["content-type"] = "application/json"}}, list)
    end
  end"""


def refusal() -> JsonObject:
    """The HTTPRouteFilter that answers 403 where the script has not answered."""
    return {
        "apiVersion": front_door.GATEWAY_VERSION,
        "kind": "HTTPRouteFilter",
        "metadata": {"name": NAME, "namespace": front_door.NAMESPACE},
        "spec": {"directResponse": {"statusCode": 403}},
    }


def route(*more: JsonObject) -> JsonObject:
    """The HTTPRoute of exactly this path at the door's Gateway, and ``more`` rules. It has no backend."""
    parent: JsonObject = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": front_door.NAME}
    reference: JsonObject = {"group": front_door.GATEWAY_GROUP, "kind": "HTTPRouteFilter", "name": NAME}
    rule: JsonObject = {
        "matches": [{"path": {"type": "Exact", "value": PATH}}],
        "filters": [{"type": "ExtensionRef", "extensionRef": reference}],
    }
    return {
        "apiVersion": GATEWAY_API,
        "kind": "HTTPRoute",
        "metadata": {"name": NAME, "namespace": front_door.NAMESPACE},
        "spec": {"parentRefs": [parent], "rules": [rule, *more]},
    }
