"""Cloud Monitoring: alerting policies, notification channels, uptime checks (v3), dashboards (v1), custom metrics.

``rules.monitoring`` decides what Google refuses. Points of custom metrics are judged and not
kept, and no alerting policy is evaluated: Google's Prometheus is not imitated here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from localcloud.google_api.core.errors import ApiError
from localcloud.google_api.core.request import Request, answers
from localcloud.google_api.rules import monitoring
from localcloud.google_api.rules.monitoring_validation import SENSITIVE
from localcloud.google_api.rules.resource_type import TargetResource, digits
from localcloud.providers.protocol.values import JsonObject, JsonValue, merge, objects, text

OBFUSCATED = "******"
"""What Google shows of a secret."""
CHANGED_AT, CHANGED_BY = "2026-01-01T00:00:00Z", "somebody@example.com"
CUSTOM = re.compile(r"custom\.googleapis\.com/[\w./]+")
CUSTOM_RESOURCES = frozenset(
    {
        "aws_ec2_instance",
        "dataflow_job",
        "gae_instance",
        "gce_instance",
        "generic_node",
        "generic_task",
        "gke_container",
        "global",
        "k8s_cluster",
        "k8s_container",
        "k8s_node",
        "k8s_pod",
    }
)
"""Monitored resources that custom metrics may name
(https://cloud.google.com/monitoring/custom-metrics/creating-metrics#create-metric-desc)."""


# -- names and bodies, as the rules know them ------------------------------------------------------------------------


@dataclass(frozen=True)
class MonitoringCollection:
    """A collection. ``token``: the type whose rules apply. ``added``: what Google adds to a body."""

    token: str
    path: str
    added: Callable[[str, JsonObject], JsonObject]


def _target(collection: MonitoringCollection, key: str, body: JsonObject) -> TargetResource:
    project = key.split("/")[1]
    return TargetResource(collection.token, key, body, {"project": project, "region": "", "zone": "", "location": ""})


# -- what Google adds to a body --------------------------------------------------------------------------------------


def _channel(name: str, body: JsonObject) -> JsonObject:
    del name
    labels = body.get("labels")
    given: Mapping[str, JsonValue] = labels if isinstance(labels, dict) else {}
    at: JsonObject = {"mutateTime": CHANGED_AT}
    return {
        "enabled": body.get("enabled", True),
        "labels": {key: OBFUSCATED if key in SENSITIVE else value for key, value in given.items()},
        "creationRecord": at,
        "mutationRecords": [at],
    }


def _policy(name: str, body: JsonObject) -> JsonObject:
    conditions: list[JsonValue] = []
    for index, condition in enumerate(objects(body, "conditions")):
        kept = text(condition, "name") or f"{name}/conditions/{digits(f'{name} {index}')}"
        query = condition.get("conditionPrometheusQueryLanguage")
        defaults: JsonObject = {"conditionPrometheusQueryLanguage": _query(query)} if isinstance(query, dict) else {}
        conditions.append({**condition, **defaults, "name": kept})
    at: JsonObject = {"mutateTime": CHANGED_AT, "mutatedBy": CHANGED_BY}
    enabled = body.get("enabled", True)
    return {"conditions": conditions, "enabled": enabled, "creationRecord": at, "mutationRecord": at}


def _query(query: JsonObject) -> JsonObject:
    return {"duration": "0s", "evaluationInterval": "30s"} | query


def _uptime_check(name: str, body: JsonObject) -> JsonObject:
    added: JsonObject = {
        "period": text(body, "period") or "60s",
        "checkerType": text(body, "checkerType") or "STATIC_IP_CHECKERS",
    }
    check = body.get("httpCheck")
    if isinstance(check, dict):
        path = text(check, "path")
        defaults: JsonObject = {"port": 443 if check.get("useSsl") is True else 80, "requestMethod": "GET"}
        full = f"/{path.removeprefix('/')}"
        added["httpCheck"] = defaults | check | {"path": full} | _hidden(check)
    if text(body, "monitoredResource", "type") == "uptime_url":
        added["monitoredResource"] = {"labels": {"project_id": name.split("/")[1]}}
    return added


def _hidden(check: JsonObject) -> JsonObject:
    """What Google shows in place of a password, and of headers that are to be masked."""
    login, headers = check.get("authInfo"), check.get("headers")
    hidden: JsonObject = {"authInfo": {**login, "password": OBFUSCATED}} if isinstance(login, dict) else {}
    if check.get("maskHeaders") is True:
        names = [*(headers if isinstance(headers, dict) else ()), *(["Content-Length"] if "body" in check else ())]
        hidden["headers"] = dict[str, JsonValue](dict.fromkeys(names, OBFUSCATED))
    return hidden


COLLECTIONS = {
    "alertPolicies": MonitoringCollection(monitoring.POLICY, "alertPolicies", _policy),
    "notificationChannels": MonitoringCollection(monitoring.CHANNEL, "notificationChannels", _channel),
    "uptimeCheckConfigs": MonitoringCollection(monitoring.UPTIME_CHECK, "uptimeCheckConfigs", _uptime_check),
    "dashboards": MonitoringCollection(monitoring.DASHBOARD, "dashboards", lambda _name, _body: {}),
}
"""Collections by the part of the method's id that names them."""


def _each(verb: str) -> tuple[str, ...]:
    return tuple(f"monitoring.projects.{name}.{verb}" for name in COLLECTIONS)


def _collection(request: Request) -> MonitoringCollection:
    return COLLECTIONS[request.method.id.split(".")[2]]


def _check_inputs(request: Request, collection: MonitoringCollection, key: str, body: JsonObject) -> None:
    """Raises :class:`ApiError` for what Google refuses."""
    with request.cloud.state() as cloud_state:
        monitoring.KINDS[collection.token].create(cloud_state, _target(collection, key, body))


def _keep(request: Request, collection: MonitoringCollection, key: str, body: JsonObject) -> JsonObject:
    """The resource as Google shows it, which is what is kept."""
    made = merge({"name": key}, body) | {"name": key}
    for name, value in collection.added(key, body).items():
        old = made.get(name)
        made[name] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    if collection.token == monitoring.DASHBOARD:
        made["etag"] = request.cloud.etag()
    request.cloud.resources[key] = made
    # What rules ask for, and nothing that may be a secret.
    inputs = {name: body[name] for name in ("displayName", "conditions", "notificationChannels") if name in body}
    with request.cloud.state() as cloud_state:
        cloud_state.put(collection.token, key, {"inputs": inputs, "computed": {"name": key}, "status": "RUNNING"})
    return made


def _existing(request: Request) -> tuple[str, JsonObject]:
    key = request.at["name"]
    uptime = f"Config not found for check {key.rpartition('/')[2]} in project {request.project}"
    said = uptime if "/uptimeCheckConfigs/" in key else "Requested entity was not found."
    return key, request.cloud.found(key, ApiError(404, said))


# -- methods ---------------------------------------------------------------------------------------------------------


@answers(*_each("create"))
def create(request: Request) -> JsonObject:
    """Makes a resource. Google assigns its number; a dashboard may bring a name."""
    collection, project = _collection(request), request.project
    above = f"projects/{project}/{collection.path}"
    number = digits(f"{above} {request.cloud.number()}")
    # The id of an uptime check begins with its name, which queries make use of (label check_id).
    begins = re.sub(r"[^a-z0-9]+", "-", text(request.body, "displayName").lower())
    key = f"{above}/{begins}-{number}" if collection.token == monitoring.UPTIME_CHECK else f"{above}/{number}"
    if collection.token == monitoring.DASHBOARD and (given := text(request.body, "name")):
        key = f"{above}/{given.rpartition('/')[2]}"
    if key in request.cloud.resources:
        raise ApiError(409, f"Object {key} already exists.")
    _check_inputs(request, collection, key, request.body)
    if request.query.get("validateOnly") == "true":
        return merge(request.body, {"name": key})
    return _keep(request, collection, key, request.body)


@answers(*_each("get"))
def get(request: Request) -> JsonObject:
    """Returns a resource."""
    return _existing(request)[1]


@answers(*_each("patch"))
def patch(request: Request) -> JsonObject:
    """Changes the fields of a resource that ``updateMask`` names, or all of them."""
    collection, (key, before) = _collection(request), _existing(request)
    etag = text(request.body, "etag")
    if etag and etag != text(before, "etag"):
        raise ApiError(409, f"The etag of {key} is not the one that was read: it was changed meanwhile.", "aborted")
    mask = [_camel(part) for part in (request.query.get("updateMask") or "").split(",") if part]
    body = {name: value for name, value in request.body.items() if name not in ("name", "etag")}
    if mask:
        kept = {name: value for name, value in before.items() if name not in {*mask, "name"}}
        body = {**kept, **{name: body[name] for name in mask if name in body}}
    _check_inputs(request, collection, key, body)
    return _keep(request, collection, key, body)


def _camel(part: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), part.split(".")[0])


@answers(*_each("delete"))
def delete(request: Request) -> JsonObject:
    """Deletes a resource to which nothing refers; with ``force`` a channel also from the policies."""
    collection, (key, _) = _collection(request), _existing(request)
    target = _target(collection, key, {"forceDelete": request.query.get("force") == "true"})
    with request.cloud.state() as cloud_state:
        monitoring.KINDS[collection.token].delete(cloud_state, target)
        cloud_state.drop(collection.token, key)
    del request.cloud.resources[key]
    for policy in request.cloud.resources.values():
        listed = policy.get("notificationChannels")
        if isinstance(listed, list) and key in listed:
            policy["notificationChannels"] = [one for one in listed if one != key]
    return {}


@answers("monitoring.projects.timeSeries.create")
def write(request: Request) -> JsonObject:
    """Takes points of custom metrics: one a series, of metrics and resources that Google allows."""
    series = objects(request.body, "timeSeries")
    if not 1 <= len(series) <= 200:
        raise ApiError(400, f"Field timeSeries had {len(series)} elements: from 1 to 200 are allowed")
    for index, one in enumerate(series):
        where = f"Field timeSeries[{index}]"
        metric, resource = text(one, "metric", "type"), text(one, "resource", "type")
        if not CUSTOM.fullmatch(metric):
            raise ApiError(400, f'{where}.metric.type had an invalid value of "{metric}"')
        if resource not in CUSTOM_RESOURCES:
            raise ApiError(400, f'{where}.resource.type had an invalid value of "{resource}"')
        points = objects(one, "points")
        if len(points) != 1 or not text(points[0], "interval", "endTime"):
            raise ApiError(400, f"{where}.points must have exactly one point, with an end time")
    return {}
