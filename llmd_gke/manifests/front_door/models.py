"""Each model's objects at the front door: its route by name, the callers that may use it, and their priorities.

Fields: envoyproxy/ai-gateway v1.0.0 ``api/v1beta1``; llm-d/llm-d-router v0.9.0 ``apix/v1alpha2``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from llmd_gke.catalog import front_door, kserve
from llmd_gke.gateways.gateway import INFERENCE_POOL_GROUP
from llmd_gke.json_types import Json, JsonObject
from llmd_gke.manifests import naming
from llmd_gke.manifests.front_door import versions
from llmd_gke.manifests.front_door.gateway import admitting
from llmd_gke.manifests.named import Named, named, names
from llmd_gke.settings import CallerSettings, FrontDoorSettings, ModelSettings


def _pool(model: ModelSettings) -> JsonObject:
    return {"group": INFERENCE_POOL_GROUP, "kind": "InferencePool", "name": kserve.inference_pool(model.name)}


DELETED_ALONE: JsonObject = {"pulumi.com/deletionPropagationPolicy": "background"}
"""Makes the provider delete a route first and what it owns afterwards. By default the garbage collector edits the route
while AI Gateway removes its own finalizer; AI Gateway does not try again after a conflict, and the route stays in
deletion for good: 6 of 116 routes on the laptop cloud, and none of 116 with this (envoyproxy/ai-gateway#2565)."""


def any_name_of(model: ModelSettings) -> JsonObject:
    """A match of the header with the name in the body, by every name of the model: a regular expression (RE2) that has
    to match the whole value.

    AI Gateway 1.0 puts a filter in front of a pool for each match that leads to it, and a request passes all of them:
    with two matches the endpoint picker is asked twice, and counts and queues each request twice (envoyproxy/ai-gateway
    v1.0.0 ``post_translate_modify.go`` ``patchListenerWithInferencePoolFilters``; envoyproxy/ai-gateway#2595).
    """
    names = "|".join(re.sub(r"[^\w/-]", lambda special: f"\\{special[0]}", name) for name in model.names)
    return {"type": "RegularExpression", "name": front_door.MODEL_HEADER, "value": names}


def route(model: ModelSettings) -> JsonObject:
    """The AIGatewayRoute: requests whose body names the model go to its InferencePool.

    AI Gateway creates an HTTPRoute of the same name, which KServe refers to. Its name differs from that of the model's
    HTTPRoute at the load balancer: AI Gateway would adopt that route without owning it, and Pulumi would delete it.
    """
    parent: JsonObject = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": front_door.NAME,
        "namespace": front_door.NAMESPACE,
    }
    rule: JsonObject = {
        "matches": [{"headers": [any_name_of(model), *filter(None, [versions.share(model)])]}],
        "modelsOwnedBy": f"{model.namespace}/{model.name}",
        # AI Gateway's own limit of 60 s cuts long answers.
        "timeouts": {"request": f"{model.request_timeout_seconds}s"},
        "backendRefs": [_pool(model)],
    }
    return {
        "apiVersion": front_door.AI_VERSION,
        "kind": "AIGatewayRoute",
        "metadata": {"name": naming.door_route(model.name), "namespace": model.namespace, "annotations": DELETED_ALONE},
        "spec": {
            "parentRefs": [parent],
            "llmRequestCosts": [{"metadataKey": front_door.USAGE_KEY, "type": "TotalToken"}],
            "rules": [rule],
        },
    }


def access(model: ModelSettings, door: FrontDoorSettings) -> JsonObject:
    """The SecurityPolicy with the callers that may use the model, by name even if every caller may. It is merged with
    the door's own policy.

    Without ``mergeType`` it would replace that policy, including the check of keys. A new caller may use a model only
    once the model's own policy lists it: its key is valid earlier, and an update may fail in between.
    """
    return _policy(model, naming.door_route(model.name), door.callers_of(model.model_name))


UNKNOWN = "route-not-found"
"""Name of the rule that AI Gateway adds to the end of each route; the first of them answers for every model that no
route has (envoyproxy/ai-gateway v1.0.0 ``newHTTPRoute``)."""


def unknown(model: ModelSettings, door: FrontDoorSettings) -> JsonObject | None:
    """The SecurityPolicy that lets every caller reach the answer 404 of :data:`UNKNOWN`; ``None`` if every caller may
    use the model.

    Which model's route comes first depends on when AI Gateway created it. Under the policy of :func:`access`, unknown
    models were 404 for some callers and 403 for others.
    """
    if len(door.callers_of(model.model_name)) == len(door.callers):
        return None
    return _policy(model, f"{naming.door_route(model.name)}-unknown", door.callers, {"sectionName": UNKNOWN})


def _policy(
    model: ModelSettings, name: str, callers: Iterable[CallerSettings], section: JsonObject | None = None
) -> JsonObject:
    names: list[Json] = [caller.name for caller in callers]
    target: JsonObject = {
        "group": "gateway.networking.k8s.io",
        "kind": "HTTPRoute",
        "name": naming.door_route(model.name),
        **(section or {}),
    }
    return {
        "apiVersion": front_door.GATEWAY_VERSION,
        "kind": "SecurityPolicy",
        "metadata": {"name": name, "namespace": model.namespace},
        "spec": {"targetRefs": [target], "mergeType": "StrategicMerge", "authorization": admitting(names)},
    }


def objectives(model: ModelSettings, door: FrontDoorSettings) -> dict[str, JsonObject]:
    """An InferenceObjective for each caller with a priority, by the caller's name, which is also the object's name.

    The endpoint picker looks up the objective whose name is in the request's header.
    """
    if not door.has_priorities:
        return {}
    return {
        caller.name: {
            "apiVersion": front_door.OBJECTIVE_VERSION,
            "kind": "InferenceObjective",
            "metadata": {"name": caller.name, "namespace": model.namespace},
            "spec": {"priority": caller.priority, "poolRef": _pool(model)},
        }
        for caller in door.callers_of(model.model_name)
        if caller.priority != 0
    }


def objects(model: ModelSettings, door: FrontDoorSettings, entrances: str) -> list[Named]:
    """The model's route at the front door, the callers that may use it, and their priorities.

    The limits on callers come first: the route must not be open for a moment to those who may not use it. All wait for
    the front door itself, among ``entrances``: if the stack loses it, the component of the model no longer depends on
    it, and these would be deleted after the controller that removes the route's finalizer.
    """
    first = named({f"priority-{caller}": objective for caller, objective in objectives(model, door).items()}, entrances)
    first.append(Named("callers", access(model, door), (entrances,)))
    if (refused := unknown(model, door)) is not None:
        first.append(Named("callers-unknown", refused, (entrances,)))
    return [*first, Named("door", route(model), (entrances, *names(first)))]
