"""Answers for models that are stopped: 503 with ``Retry-After``, from the settings, because they have no route.

AI Gateway reads the model's name from the body before the door's Lua script runs, also if no route is for that model
(envoyproxy/ai-gateway v1.0.0 ``routerProcessor.ProcessRequestBody``, ``insertAIGatewayExtProcFilter``), and after the
check of keys. So the script knows caller and model. A route of the model's own would be as specific as the one that
it gets when it starts, and the older of the two wins (envoyproxy/gateway v1.8.3 ``sort.go``): the model would stay
away until the end of an update that starts it. The script is changed before any model.

If all models are stopped, nothing reads the body: AI Gateway works on its own routes only. Then every path below
``/v1`` gets the answer, whatever the model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from llmd_gke.catalog import front_door
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.settings import FrontDoorSettings, ModelSettings

NAME = "stopped"
STATUS = 599
"""Status of script and filter, which the door's policy replaces by 503 and the answer. It is one that nothing else
sends: the answer for a 503 of a running model is another."""
RETRY_SECONDS = 600
"""For ``Retry-After``: a stopped model starts when an operator wants it, and then needs a node, image and weights."""
ERROR = (
    "server_error",
    "model_stopped",
    "The model is stopped; GET /v1/models lists those that are not.",
    RETRY_SECONDS,
)
"""Type, code and message of the error, and seconds for ``Retry-After``."""


def some(models: Sequence[ModelSettings]) -> bool:
    """Whether the door needs the answer."""
    return any(model.stopped for model in models)


def everything(models: Sequence[ModelSettings]) -> bool:
    """Whether no model is left that has a route."""
    return all(model.stopped for model in models)


def lua(door: FrontDoorSettings, models: Sequence[ModelSettings]) -> str:
    """Lines of the script's request function, after it has set the caller's header; none if no model is stopped.

    A caller that may not use the model gets 403, as if it ran.
    """
    callers = {
        name: ", ".join(f"[{json.dumps(caller.name)}] = true" for caller in door.callers_of(model.model_name))
        for model in models
        if model.stopped
        for name in model.names
    }
    if not callers:
        return ""
    entries = ", ".join(f"[{json.dumps(name)}] = {{{allowed}}}" for name, allowed in callers.items())
    return f"""
  local stopped = {{{entries}}}
  local callers = stopped[handle:headers():get("{front_door.MODEL_HEADER}") or ""]
  if callers then
    local allowed = callers[handle:headers():get("{front_door.CALLER_HEADER}") or ""]
    handle:respond({{[":status"] = allowed and "{STATUS}" or "403"}}, "")
  end"""


def answer() -> JsonObject:
    """The HTTPRouteFilter that gives the answer without a backend."""
    return {
        "apiVersion": front_door.GATEWAY_VERSION,
        "kind": "HTTPRouteFilter",
        "metadata": {"name": NAME, "namespace": front_door.NAMESPACE},
        "spec": {"directResponse": {"statusCode": STATUS}},
    }


def rule(prefix: str) -> JsonObject:
    """The rule of a route for all paths below this prefix."""
    reference: JsonObject = {"group": front_door.GATEWAY_GROUP, "kind": "HTTPRouteFilter", "name": NAME}
    matches: list[Json] = [{"path": {"type": "PathPrefix", "value": prefix}}]
    return {"matches": matches, "filters": [{"type": "ExtensionRef", "extensionRef": reference}]}
